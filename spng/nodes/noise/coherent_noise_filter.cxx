// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/coherent_noise_filter.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/noise/board_rows.h"
#include "spng/nodes/noise/tick_ranges.h"

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const CoherentNoiseFilterConfig&, PlannedCall& call) {
    const PlannedTensor& adc = call.inputs.at(0).at(0);
    const auto working = call.scratch(MemoryUse::input, coherent_noise_buffers * adc.samples() * call.real);
    return {{call.make(adc, MemoryUse::input, call.real)}};
}

const Registration<CoherentNoiseFilter> registration{
    {.type = "SPNGCoherentNoiseFilter",
     .kind = "noise",
     .inputs = {"waveforms"},
     .outputs = {"waveforms"},
     .text = "subtracts the noise shared by the channels of a front-end board, with signal protection",
     .memory = memory_rule<CoherentNoiseFilter>({.call = plan_memory})}};

} // namespace

void CoherentNoiseFilter::configured() {
    m_rule = {config().threshold, config().common_threshold, config().half_smoothing,
              config().padding,   config().min_fraction,     config().max_noise};
}

void CoherentNoiseFilter::prepare_node(Environment& environment) {
    const auto& service = environment.service<ViewGroups>(config().groups, at_key("groups"));
    const ViewGroup& group = service.group(config().group, at_key("group"));
    m_boards = board_rows(group, {config().board_channels, config().board_shift},
                          [this](const auto& key, const auto& seen, const auto& expected) {
                              reject(key, seen, expected);
                          })
                   .to(context().device());
}

Ports CoherentNoiseFilter::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("CoherentNoiseFilter::remove");
    NamedTensor tensor = inputs[0]->only();
    const at::Tensor bad_ticks = found_bad_ticks(*tensor.channels);
    tensor.data = remove_coherent_noise(tensor.data.to(context().device()), tensor.channels->good, m_boards,
                                        m_rule, bad_ticks);
    tensor.data = bridge_bad_ticks(tensor.data, bad_ticks);
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(tensor)})};
}

} // namespace spng
