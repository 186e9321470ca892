#pragma once
// SPNGCoherentNoiseFilter: an optional step before SPNGDecon.

#include "spng/graph/node.h"
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
    static constexpr auto fields() {
        using C = CoherentNoiseFilterConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::group, "group", "", required(), "the group of views that comes in"),
            field(&C::board_channels, "board_channels", "channels",
                  Range{.low = 3, .required = true, .not_empty = true},
                  "channels of each view on one front-end board, consecutive in number; one for all views or "
                  "one each"),
            field(&C::board_shift, "board_shift", "channels", Range{.low = 0, .not_empty = true},
                  "number, within its view, of the first channel of the first board; one for all views or "
                  "one each"),
            field(&C::threshold, "threshold", "sigma", between(2, 20),
                  "a channel carries signal where it leaves its board's noise by more than this"),
            field(&C::common_threshold, "common_threshold", "sigma", between(2, 20),
                  "all channels of a board carry signal where their median leaves its own noise by more than "
                  "this"),
            field(&C::half_smoothing, "half_smoothing", "ticks", between(0, 1000),
                  "both are also tried on running means of 2 n + 1 ticks; 0: not"),
            field(&C::padding, "padding", "ticks", between(0, 1000),
                  "ticks on both sides of a signal that are kept out of the noise too"),
            field(&C::min_fraction, "min_fraction", "1", between(0, 1),
                  "share of a board's good channels that must be free of signal; elsewhere the noise is "
                  "interpolated in time"));
    }
};

/// In and out: waveforms (view, channel, tick) in ADC counts; out as real numbers, baselines kept. Formulas
/// in coherent_noise.h.
class CoherentNoiseFilter : public NodeWith<CoherentNoiseFilterConfig> {
protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    CoherentNoiseRule m_rule;
    at::Tensor m_boards; ///< (board, member) rows of the tensor, on the device
};

} // namespace spng
