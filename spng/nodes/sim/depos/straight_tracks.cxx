// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/straight_tracks.h"

#include "spng/core/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace spng {

Box box_of(const DriftVolume& volume, double margin) {
    const auto [low, high] = std::minmax({volume.response, volume.cathode});
    return {{low + margin, volume.low.y + margin, volume.low.z + margin},
            {high - margin, volume.high.y - margin, volume.high.z - margin}};
}

void append_line(ChargePoints& points, RandomStream& random, const Segment& line, double start, double step,
                 const ChargeLineConfig& config, int id) {
    constexpr double min_fluctuation = 0.2;
    const Point3 whole = line.end - line.begin;
    const double length = whole.length();
    const auto steps = std::max<std::int64_t>(std::llround(length / step), 1);
    const double charge = config.charge_per_mm * random.uniform(config.low_scale, config.high_scale) *
                          length / static_cast<double>(steps);
    for (std::int64_t i = 0; i < steps; ++i) {
        const double fraction = (static_cast<double>(i) + 0.5) / static_cast<double>(steps);
        const double fluctuation = std::max(1 + config.straggling * random.normal(), min_fluctuation);
        points.add(start + fraction * length / speed_of_light, line.begin + whole * fraction,
                   charge * fluctuation, id, 0);
    }
}

Segment clipped_line(const Box& box, Point3 point, Point3 direction) {
    double begin = -std::numeric_limits<double>::infinity(), end = -begin;
    const auto clip = [&](double from, double along, double low, double high) {
        if (along != 0) {
            const auto [near, far] = std::minmax({(low - from) / along, (high - from) / along});
            begin = std::max(begin, near);
            end = std::min(end, far);
        }
    };
    clip(point.x, direction.x, box.low.x, box.high.x);
    clip(point.y, direction.y, box.low.y, box.high.y);
    clip(point.z, direction.z, box.low.z, box.high.z);
    return {point + direction * begin, point + direction * end};
}

Point3 random_point(RandomStream& random, const Box& box) {
    // Separate statements, because the evaluation order of arguments depends on the compiler.
    const double x = random.uniform(box.low.x, box.high.x), y = random.uniform(box.low.y, box.high.y);
    return {x, y, random.uniform(box.low.z, box.high.z)};
}

Point3 isotropic_direction(RandomStream& random) {
    const double x = random.uniform(-1, 1), angle = random.uniform(0, 2 * std::numbers::pi);
    const double across = std::sqrt(1 - x * x);
    return {x, across * std::cos(angle), across * std::sin(angle)};
}

Segment random_line(RandomStream& random, const Box& box, double shortest) {
    for (int attempt = 0; attempt < 10000; ++attempt) {
        const Point3 through = random_point(random, box);
        const Segment line = clipped_line(box, through, isotropic_direction(random));
        if ((line.end - line.begin).length() >= shortest) {
            return line;
        }
    }
    throw Error(ErrorKind::Configuration, {.what = "no track fits into the drift volume",
                                           .where = "key shortest",
                                           .seen = std::to_string(shortest) + " mm",
                                           .expected = "less than the diagonal of the drift volume",
                                           .hint = "reduce shortest"});
}

} // namespace spng
