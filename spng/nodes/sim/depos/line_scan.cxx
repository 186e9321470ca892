// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/line_scan.h"

#include "spng/nodes/sim/random_stream.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace spng {
namespace {

constexpr double spacing = 155;
constexpr double projected_length = 110;
constexpr double longest = 1000;
constexpr double nearest_drift = 700;
constexpr double farthest_drift = 2200;

/// Shuffle of Fisher and Yates.
std::vector<std::size_t> random_order(RandomStream& random, std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t left = count; left > 1; --left) {
        std::swap(order[left - 1], order[random.below(left)]);
    }
    return order;
}

} // namespace

std::vector<Segment> line_scan(const LineScanConfig& config, const DriftVolume& volume,
                               const WirePlane& plane, std::uint64_t seed) {
    RandomStream random(seed);
    const auto slots = random_order(random, config.angles.size());
    const double middle = 0.5 * static_cast<double>(config.angles.size() - 1);
    std::vector<Segment> lines;
    for (std::size_t i = 0; i < config.angles.size(); ++i) {
        const double angle = config.angles[i] * std::numbers::pi / 180;
        // The lower bound of the cosine avoids a division by 0; the limit of 1 m then applies.
        const double length = std::min(projected_length / std::max(std::cos(angle), 1e-9), longest);
        const double depth = 0.5 * length * std::sin(angle), across = 0.5 * length * std::cos(angle);
        const double drift = random.uniform(nearest_drift + depth, farthest_drift - depth);
        const double offset = (static_cast<double>(slots[i]) - middle) * spacing;
        const Point3 centre{volume.response + volume.side() * drift,
                            config.y + offset * plane.pitch_direction.y,
                            config.z + offset * plane.pitch_direction.z};
        const Point3 half{volume.side() * depth, across * plane.pitch_direction.y,
                          across * plane.pitch_direction.z};
        lines.push_back({centre - half, centre + half});
    }
    return lines;
}

} // namespace spng
