#pragma once
// SPNGThresholdROIs: regions where a channel exceeds its noise, from that channel alone.

#include "spng/graph/node.h"
#include "spng/nodes/roi/region_seeds.h"

#include <string>
#include <vector>

namespace spng {

struct ThresholdROIsConfig {
    double threshold_rms_factor = 3;
    double nominal = 0;
    std::vector<GrowthPass> passes = {};
    double grow_rms_factor = 1;
    double weak_rms_factor = 0;
    int pad = 0;
    std::string image = "tight";
    std::string output = "regions";
    static constexpr auto fields() {
        using C = ThresholdROIsConfig;
        return std::make_tuple(
            field(&C::threshold_rms_factor, "threshold_rms_factor", "1", at_least(0),
                  "threshold in units of the channel's noise RMS"),
            field(
                &C::nominal, "nominal", "electrons", any(),
                "added to the threshold of regions that do not grow; with a factor of 0 it is the threshold"),
            field(&C::passes, "passes", "", any(),
                  "regions that grow: samples above the threshold are seeds; none: samples above the "
                  "threshold are the regions"),
            field(&C::grow_rms_factor, "grow_rms_factor", "1", any(),
                  "seeds grow along ticks while their image stays above"),
            field(&C::weak_rms_factor, "weak_rms_factor", "1", at_least(0),
                  "samples of `image` above this belong to the regions too, without a seed; 0: none"),
            field(&C::pad, "pad", "samples", at_least(0), "added to both ends of every region"),
            field(&C::image, "image", "", not_empty(),
                  "image that the threshold is for when there are no passes"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor"));
    }
};

/// In: images (view, channel, tick) with the RMS of their channels (SPNGChannelRMS). Out: regions, bool of
/// the same shape, with the RMS of `image` as summary. Dead channels have no regions.
class ThresholdROIs : public NodeWith<ThresholdROIsConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
