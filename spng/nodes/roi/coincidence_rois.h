#pragma once
// SPNGCoincidenceROIs: regions of induction views without a network. The two other views say where a weak
// seed is to be believed, and where a region may go on to the next wire (docs/decisions/regions.md).

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
            field(&C::passes, "passes", "", not_empty(), "in which images seeds are looked for and grow"),
            field(&C::seed_rms_factor, "seed_rms_factor", "1", at_least(0),
                  "threshold of a seed where the two other views cross"),
            field(&C::lone_seed_rms_factor, "lone_seed_rms_factor", "1", at_least(0),
                  "threshold of a seed anywhere"),
            field(&C::grow_rms_factor, "grow_rms_factor", "1", any(),
                  "seeds grow along ticks while their image stays above"),
            field(&C::neighbour_rms_factor, "neighbour_rms_factor", "1", any(),
                  "where the two other views cross, a region goes on to the next wire while "
                  "`neighbour_image` stays above"),
            field(&C::neighbour_image, "neighbour_image", "", not_empty(), "see neighbour_rms_factor"),
            field(&C::cyclic, "cyclic", "", any(),
                  "the last channel of a view is next to its first (wrapped planes)"),
            field(&C::pad, "pad", "samples", at_least(0),
                  "added to both ends of every region, so that its baseline is outside the pulse"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor"));
    }
};

/// Port 0: images with the RMS of their channels; port 1: mp2 and mp3 of the same channels. Out: regions,
/// bool (view, channel, tick).
class CoincidenceROIs : public NodeWith<CoincidenceROIsConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
