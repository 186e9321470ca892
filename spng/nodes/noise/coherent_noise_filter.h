// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGCoherentNoiseFilter: optional node before SPNGDecon.

#include "spng/graph/tensor_node.h"
#include "spng/nodes/noise/coherent_noise.h"

#include <string>
#include <vector>

namespace spng {

struct CoherentNoiseFilterConfig {
    std::string groups = "SPNGViewGroups";
    std::string group;
    std::vector<std::int64_t> board_channels;
    std::vector<std::int64_t> board_shift = {0};
    double threshold = CoherentNoiseRule{}.threshold;
    double common_threshold = CoherentNoiseRule{}.common_threshold;
    std::int64_t half_smoothing = CoherentNoiseRule{}.half_smoothing;
    std::int64_t padding = CoherentNoiseRule{}.padding;
    double min_fraction = CoherentNoiseRule{}.min_fraction;
    double max_noise = CoherentNoiseRule{}.max_noise;
    static constexpr auto fields() {
        using C = CoherentNoiseFilterConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::group, "group", "", required(), "name of the view group of the input"),
            field(&C::board_channels, "board_channels", "channels", required(at_least(3)),
                  "channels of a view per front-end board, with consecutive ids; one value for all views or "
                  "one per view"),
            field(&C::board_shift, "board_shift", "channels", Range{.low = 0, .not_empty = true},
                  "index in its view of the first channel of the first board; one value for all views or one "
                  "per view"),
            field(&C::threshold, "threshold", "sigma", between(2, 20),
                  "a channel carries signal where its deviation from the board's median exceeds this"),
            field(&C::common_threshold, "common_threshold", "sigma", between(2, 20),
                  "all channels of a board carry signal where the board's median exceeds this many sigma of "
                  "the median"),
            field(&C::half_smoothing, "half_smoothing", "ticks", between(0, 1000),
                  "apply both thresholds also to running means over 2 n + 1 ticks; 0: no"),
            field(&C::padding, "padding", "ticks", between(0, 1000),
                  "ticks on both sides of a signal that are excluded from the noise too"),
            field(&C::min_fraction, "min_fraction", "1", between(0, 1),
                  "share of a board's members that must be free of signal; elsewhere the noise is "
                  "interpolated in time"),
            field(&C::max_noise, "max_noise", "1", at_least(1),
                  "a channel takes no part in the estimate if its noise exceeds this, in units of the lower "
                  "median of its board"));
    }
};

/// In and out: waveforms (view, channel, tick) [ADC]. The output is real and keeps the baselines. Formulas in
/// coherent_noise.h.
class CoherentNoiseFilter : public TensorNode<CoherentNoiseFilterConfig> {
protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    NamedTensor step(NamedTensor tensor, const EventInfo& event) override;

private:
    CoherentNoiseRule m_rule;
    at::Tensor m_boards; ///< (board, member) int64 rows of the input, on the device
};

} // namespace spng
