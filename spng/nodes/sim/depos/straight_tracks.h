// SPDX-License-Identifier: Apache-2.0
#pragma once
// Straight lines of charge, and random lines through drift volumes.

#include "spng/nodes/sim/depos/drift_volume.h"
#include "spng/nodes/sim/depos/energy_deposits.h"
#include "spng/nodes/sim/random_stream.h"

namespace spng {

struct Segment {
    Point3 begin, end;
};

struct ChargeLineConfig {
    double charge_per_mm = 5000;
    double straggling = 0.15;
    double low_scale = 0.9;
    double high_scale = 1.4;
    static constexpr auto fields() {
        using C = ChargeLineConfig;
        return std::make_tuple(
            field(&C::charge_per_mm, "charge_per_mm", "electrons/mm", above(0), "charge along a line"),
            field(&C::straggling, "straggling", "1", between(0, 1),
                  "relative standard deviation of the charge of a step; its minimum is 20 % of the mean"),
            field(&C::low_scale, "low_scale", "1", above(0),
                  "lower limit of the random factor on the charge of a track"),
            field(&C::high_scale, "high_scale", "1", above(0),
                  "upper limit of the random factor on the charge of a track"));
    }
};

/// Append a charge in the middle of each step. The line has at least one step; all have the same length,
/// close to `step`. Time advances with the speed of light.
/// @param start  time at the beginning of the line [ns]
/// @param step   mm
void append_line(ChargePoints& points, RandomStream& random, const Segment& line, double start, double step,
                 const ChargeLineConfig& config, int id);

/// Return the part inside the box of a line through `point` along the unit vector `direction`.
Segment clipped_line(const Box& box, Point3 point, Point3 direction);

/// Draw a uniform point of the box.
Point3 random_point(RandomStream& random, const Box& box);

/// Draw an isotropic direction.
Point3 isotropic_direction(RandomStream& random);

/// Draw an isotropic line through a uniform point of the box, from border to border.
/// @param shortest  minimum length [mm]
/// @throws Error(Configuration) if none of 10000 lines is long enough
Segment random_line(RandomStream& random, const Box& box, double shortest);

} // namespace spng
