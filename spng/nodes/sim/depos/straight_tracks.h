#pragma once
// Straight lines of charge, and random ones through drift volumes.

#include "spng/nodes/sim/depos/drift_volume.h"
#include "spng/nodes/sim/depos/energy_deposits.h"
#include "spng/nodes/sim/random_stream.h"

#include <vector>

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
                  "relative standard deviation of the charge of a step, which is never below a fifth"),
            field(&C::low_scale, "low_scale", "1", above(0),
                  "charge of a track is multiplied by a number from here"),
            field(&C::high_scale, "high_scale", "1", above(0), "to here"));
    }
};

/// A charge in the middle of each step; steps of equal length, as near to `step` as the line allows, at
/// least one. The clock runs with the speed of light from the beginning of the line.
/// @param start  ns
void append_line(ChargePoints& points, RandomStream& random, const Segment& line, double start, double step,
                 const ChargeLineConfig& config, int id);

/// Where a line through `point` along the unit vector `direction` is within the box.
Segment clipped_line(const Box& box, Point3 point, Point3 direction);

/// With equal chances for every volume of the box.
Point3 random_point(RandomStream& random, const Box& box);

/// A direction with equal chances for every solid angle.
Point3 isotropic_direction(RandomStream& random);

/// A line through a uniform point of the box, isotropic, from edge to edge, at least `shortest` mm long.
/// Throws Error(Configuration) when none of 10000 lines is as long.
Segment random_line(RandomStream& random, const Box& box, double shortest);

} // namespace spng
