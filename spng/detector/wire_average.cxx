// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/wire_average.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace spng {
namespace {

/// Paths at the same distance from the central wire.
struct ImpactPosition {
    double distance = 0; ///< pitches, not negative
    std::vector<std::int64_t> paths;
};

std::vector<ImpactPosition> impact_positions(const PlaneResponse& plane, AverageMode mode) {
    std::vector<double> distance;
    for (const double position : plane.pitch_positions) {
        const double hundredths = std::abs(position) / (0.01 * plane.pitch);
        distance.push_back(0.01 * (mode == AverageMode::compat ? std::trunc(hundredths) : hundredths));
    }
    std::vector<std::int64_t> order(distance.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return distance[a] < distance[b]; });
    constexpr double same = 1e-3; // pitches
    std::vector<ImpactPosition> positions;
    for (const std::int64_t path : order) {
        if (positions.empty() || distance[path] - positions.back().distance > same) {
            positions.push_back({distance[path], {}});
        }
        positions.back().paths.push_back(path);
    }
    return positions;
}

/// Return the weights (wire, path).
at::Tensor average_weights(const std::vector<ImpactPosition>& positions, std::int64_t path_count) {
    // The outermost position is the edge of the outermost region and must not start another region.
    const auto reach = static_cast<std::int64_t>(std::lround(positions.back().distance - 1e-3));
    at::Tensor weights = at::zeros({2 * reach + 1, path_count}, at::kDouble);
    auto weight = weights.accessor<double, 2>();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (std::size_t index = 0; index < positions.size(); ++index) {
        const double distance = positions[index].distance;
        const bool first = index == 0;
        const bool last = index + 1 == positions.size();
        const double low = first ? 0 : 0.5 * (positions[index - 1].distance + distance);
        const double high = last ? infinity : 0.5 * (positions[index + 1].distance + distance);
        for (std::int64_t region = -reach; region <= reach; ++region) {
            const auto overlap = [&](double begin, double end) {
                return std::max(0.0, std::min(end, region + 0.5) - std::max(begin, region - 0.5));
            };
            // The first position, at the wire, and its mirror image share one interval around it.
            const double width = first ? overlap(-high, high) : overlap(low, high) + overlap(-high, -low);
            for (const std::int64_t path : positions[index].paths) {
                weight[region + reach][path] += width / static_cast<double>(positions[index].paths.size());
            }
        }
    }
    return weights;
}

} // namespace

at::Tensor average_over_wires(const PlaneResponse& plane, AverageMode mode) {
    const auto positions = impact_positions(plane, mode);
    return at::mm(average_weights(positions, plane.current.size(0)), plane.current);
}

} // namespace spng
