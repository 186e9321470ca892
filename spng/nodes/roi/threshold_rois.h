// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGThresholdROIs: find the ROIs of each channel where it exceeds its noise
// (docs/physics-notes.md#threshold-rois).

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
                  "threshold [channel RMS]"),
            field(&C::nominal, "nominal", "electrons", any(),
                  "added to the threshold without passes; with a factor of 0 it is the threshold"),
            field(&C::passes, "passes", "", any(),
                  "ROI images of the seeds and of their growth; empty: the samples above the threshold are "
                  "the ROIs"),
            field(&C::grow_rms_factor, "grow_rms_factor", "1", at_least(0),
                  "seeds grow along ticks while their ROI image is above this [channel RMS]"),
            field(&C::weak_rms_factor, "weak_rms_factor", "1", at_least(0),
                  "samples of `image` above this [channel RMS] belong to the ROIs too, without a seed; 0: "
                  "none"),
            field(&C::pad, "pad", "samples", at_least(0), "samples added to both ends of every ROI"),
            field(&C::image, "image", "", not_empty(),
                  "name of the ROI image for a threshold without passes"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor")
                .or_wct("output_tensor_tag"));
    }
};

/// In: ROI images (view, channel, tick) with the RMS of their channels (SPNGChannelRMS).
/// Out: ROIs, a packed mask of the same shape, with the RMS of `image` as summary. Dead channels have no ROIs.
class ThresholdROIs : public NodeWith<ThresholdROIsConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
