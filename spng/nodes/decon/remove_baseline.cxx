// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/remove_baseline.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/decon/baseline.h"

#include <memory>
#include <utility>
#include <vector>

namespace spng {
namespace {

/// One waveform as large as the input.
std::vector<PlannedSet> plan_memory(const RemoveBaselineConfig&, PlannedCall& call) {
    return {{call.make(call.inputs.at(0).at(0), MemoryUse::images, call.real)}};
}

const Registration<RemoveBaseline> registration{
    {.type = "SPNGRemoveBaseline",
     .kind = "decon",
     .inputs = {"waveform"},
     .outputs = {"waveform"},
     .text = "subtracts the median of each channel",
     .memory = memory_rule<RemoveBaseline>({.call = plan_memory})}};

} // namespace

Ports RemoveBaseline::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("RemoveBaseline::subtract");
    NamedTensor waveform = inputs[0]->only();
    waveform.name = config().output;
    waveform.data = subtract_baseline_and_pad(waveform.data, waveform.data.size(-1),
                                              waveform.data.scalar_type(), waveform.channels->good);
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(waveform)})};
}

} // namespace spng
