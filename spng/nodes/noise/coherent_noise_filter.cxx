// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/coherent_noise_filter.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"
#include "spng/nodes/noise/board_rows.h"
#include "spng/nodes/noise/tick_ranges.h"

namespace spng {
namespace {

const Registration<CoherentNoiseFilter> registration{
    {.type = "SPNGCoherentNoiseFilter",
     .kind = "noise",
     .text = "subtracts the noise shared by the channels of a front-end board, with signal protection",
     .memory = step_memory_rule({.use = MemoryUse::input, .copies = coherent_noise_buffers})}};

} // namespace

void CoherentNoiseFilter::configured() {
    m_rule = {config().threshold, config().common_threshold, config().half_smoothing,
              config().padding,   config().min_fraction,     config().max_noise};
}

void CoherentNoiseFilter::prepare_node(Environment& environment) {
    const ViewGroup& group = group_of(config(), environment, name().text());
    m_boards = board_rows(group, {config().board_channels, config().board_shift}, name().text())
                   .to(context().device());
}

NamedTensor CoherentNoiseFilter::step(NamedTensor tensor, const EventInfo& /*event*/) {
    NVTX_SCOPED_RANGE("CoherentNoiseFilter::remove");
    const at::Tensor bad_ticks = found_bad_ticks(*tensor.channels);
    tensor.data = remove_coherent_noise(tensor.data.to(context().device()), tensor.channels->good, m_boards,
                                        m_rule, bad_ticks);
    tensor.data = bridge_bad_ticks(tensor.data, bad_ticks);
    return tensor;
}

} // namespace spng
