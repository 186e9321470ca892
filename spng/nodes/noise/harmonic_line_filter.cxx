// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/harmonic_line_filter.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/noise/tick_ranges.h"

#include <ATen/Context.h>

#include <string>

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const HarmonicLineFilterConfig&, PlannedCall& call) {
    const PlannedTensor& adc = call.inputs.at(0).at(0);
    const auto working =
        call.scratch(MemoryUse::input, harmonic_line_buffers * adc.channels * adc.ticks * call.real);
    return {{call.make(adc, MemoryUse::input, call.real)}};
}

const Registration<HarmonicLineFilter> registration{
    {.type = "SPNGHarmonicLineFilter",
     .kind = "noise",
     .text = "subtracts lines of constant frequency, such as harmonics of power supplies",
     .memory = memory_rule<HarmonicLineFilter>({.call = plan_memory})}};

} // namespace

void HarmonicLineFilter::configured() {
    m_rule = {config().threshold, config().common_threshold, config().min_frequency,
              config().max_lines, config().signal_threshold, {}};
    for (const auto& band : config().bands) {
        if (band.high < band.low) {
            reject("bands", std::to_string(band.low) + " to " + std::to_string(band.high),
                   "low at most high [1/ns]");
        }
        m_rule.bands.push_back({band.low, band.high});
    }
}

NamedTensor HarmonicLineFilter::step(NamedTensor tensor, const EventInfo& /*event*/) {
    NVTX_SCOPED_RANGE("HarmonicLineFilter::remove");
    const at::NoTF32Guard float32; // a host program may allow TF32, which has too few digits for lines
    const at::Tensor bad_ticks = found_bad_ticks(*tensor.channels);
    tensor.data = remove_harmonic_lines(tensor.data.to(context().device()), tensor.channels->good,
                                        tensor.axes.back().period, m_rule, bad_ticks);
    tensor.data = bridge_bad_ticks(tensor.data, bad_ticks);
    return tensor;
}

} // namespace spng
