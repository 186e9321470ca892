// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/remove_baseline.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/nodes/decon/baseline.h"

#include <memory>
#include <utility>
#include <vector>

namespace spng {
namespace {

/// One waveform as large as the input.
const Registration<RemoveBaseline> registration{{.type = "SPNGRemoveBaseline",
                                                 .kind = "decon",
                                                 .inputs = {"waveform"},
                                                 .text = "subtracts the median of each channel",
                                                 .memory = step_memory_rule({.copies = 0})}};

} // namespace

NamedTensor RemoveBaseline::step(NamedTensor waveform, const EventInfo& /*event*/) {
    NVTX_SCOPED_RANGE("RemoveBaseline::subtract");
    waveform.name = config().output;
    waveform.data = subtract_baseline_and_pad(waveform.data, waveform.data.size(-1),
                                              waveform.data.scalar_type(), waveform.channels->good);
    return waveform;
}

} // namespace spng
