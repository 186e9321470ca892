// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ideal lines at chosen angles to the pitch direction of a plane.

#include "spng/nodes/sim/depos/drift_volume.h"
#include "spng/nodes/sim/depos/straight_tracks.h"

#include <cstdint>
#include <vector>

namespace spng {

struct LineScanConfig {
    int plane = 0;
    std::vector<double> angles = {0, 1, 3, 5, 10, 20, 30, 45, 60, 75, 80, 82, 84, 89};
    double y = 0;
    double z = 0;
    static constexpr auto fields() {
        using C = LineScanConfig;
        return std::make_tuple(
            field(&C::plane, "plane", "", between(0, 2), "plane whose pitch direction defines the angles"),
            field(&C::angles, "angles", "degree", Range{.low = 0, .high = 90, .not_empty = true},
                  "theta_xz of each line, its angle to the pitch direction; 90: along the drift"),
            field(&C::y, "y", "mm", any(), "y of the centre of the lines"),
            field(&C::z, "z", "mm", any(), "z of the centre of the lines"));
    }
};

/// Return one line per angle, in this order, in the plane of drift direction and pitch direction. The lines
/// are defined as in the line scan of WCT's simulation: length 110 mm / cos(angle), at most 1 m; centres 155
/// mm apart along the pitch direction around (y, z), in a random order; random distance of the whole line
/// between 700 and 2200 mm from the response plane. Along the pitch direction the distance to the wires
/// increases.
std::vector<Segment> line_scan(const LineScanConfig& config, const DriftVolume& volume,
                               const WirePlane& plane, std::uint64_t seed);

} // namespace spng
