// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGCoincidenceROIs: find the ROIs of induction views without a network. Coincidence of the two other views
// confirms weak seeds and lets ROIs grow to the next wire (docs/decisions/regions.md).

#include "spng/graph/node.h"
#include "spng/nodes/roi/region_seeds.h"

#include <string>
#include <vector>

namespace spng {

struct CoincidenceROIsConfig {
    std::vector<GrowthPass> passes = {{{"tight"}, "tight", 0}, {{"long17", "long51"}, "loose", 0.25}};
    double seed_rms_factor = 4;
    double lone_seed_rms_factor = 5;
    double grow_rms_factor = 1;
    double neighbour_rms_factor = -1;
    std::string neighbour_image = "tight";
    bool cyclic = false;
    int pad = 1;
    std::string output = "roi";
    static constexpr auto fields() {
        using C = CoincidenceROIsConfig;
        return std::make_tuple(
            field(&C::passes, "passes", "", not_empty(), "ROI images of the seeds and of their growth"),
            field(&C::seed_rms_factor, "seed_rms_factor", "1", at_least(0),
                  "threshold of a seed in coincidence with the two other views; in the first pass also of "
                  "one beside an ROI of the next wire [channel RMS]"),
            field(&C::lone_seed_rms_factor, "lone_seed_rms_factor", "1", at_least(0),
                  "threshold of any other seed [channel RMS]"),
            field(&C::grow_rms_factor, "grow_rms_factor", "1", at_least(0),
                  "seeds grow along ticks while their ROI image is above this [channel RMS]"),
            field(&C::neighbour_rms_factor, "neighbour_rms_factor", "1", any(),
                  "in coincidence with the two other views, an ROI grows to the next wire where "
                  "`neighbour_image` is above this [channel RMS]"),
            field(&C::neighbour_image, "neighbour_image", "", not_empty(),
                  "name of the ROI image for neighbour_rms_factor"),
            field(&C::cyclic, "cyclic", "", any(),
                  "true: the last channel of a view is next to its first (wrapped planes)"),
            field(&C::pad, "pad", "samples", at_least(0),
                  "samples added to both ends of every ROI, so that its baseline is outside the pulse"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor"));
    }
};

/// In: port 0: ROI images (view, channel, tick) with the RMS of their channels; port 1: mp2 and mp3 of the
/// same channels. Out: ROIs, a packed mask (view, channel, tick).
class CoincidenceROIs : public NodeWith<CoincidenceROIsConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
