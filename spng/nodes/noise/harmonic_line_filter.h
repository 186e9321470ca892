// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGHarmonicLineFilter: optional node before SPNGDecon.

#include "spng/graph/tensor_node.h"
#include "spng/nodes/noise/harmonic_lines.h"

#include <vector>

namespace spng {

struct FrequencyBandConfig {
    double low = 0;
    double high = 0;
    static constexpr auto fields() {
        using C = FrequencyBandConfig;
        return std::make_tuple(field(&C::low, "low", "1/ns", at_least(0), "lowest frequency"),
                               field(&C::high, "high", "1/ns", required(), "highest frequency"));
    }
};

struct HarmonicLineFilterConfig {
    double threshold = HarmonicLineRule{}.threshold;
    double common_threshold = HarmonicLineRule{}.common_threshold;
    double min_frequency = HarmonicLineRule{}.min_frequency;
    std::int64_t max_lines = HarmonicLineRule{}.max_lines;
    double signal_threshold = HarmonicLineRule{}.signal_threshold;
    std::vector<FrequencyBandConfig> bands;
    static constexpr auto fields() {
        using C = HarmonicLineFilterConfig;
        return std::make_tuple(
            field(&C::threshold, "threshold", "1", between(3, 100),
                  "a channel has a line where its amplitude exceeds this, in medians of the nearby "
                  "frequencies"),
            field(&C::common_threshold, "common_threshold", "1", between(1.1, 100),
                  "all channels of a view have a line where their mean amplitude exceeds this, in medians "
                  "over frequency"),
            field(&C::min_frequency, "min_frequency", "1/ns", at_least(0),
                  "lowest frequency of a line; slow pulses are below"),
            field(&C::max_lines, "max_lines", "", between(1, 64),
                  "maximum number of lines of a channel, and of common lines of a view"),
            field(&C::signal_threshold, "signal_threshold", "sigma", between(2, 20),
                  "ticks beyond this are signals and do not contribute to the spectra"),
            field(&C::bands, "bands", "", any(),
                  "frequencies that are set to zero in all channels, as freqmasks of a channel noise "
                  "database"));
    }
};

/// In and out: waveforms (view, channel, tick) [ADC]. The output is real and keeps the baselines. Formulas in
/// harmonic_lines.h.
class HarmonicLineFilter : public TensorNode<HarmonicLineFilterConfig> {
protected:
    void configured() override;
    NamedTensor step(NamedTensor tensor, const EventInfo& event) override;

private:
    HarmonicLineRule m_rule;
};

} // namespace spng
