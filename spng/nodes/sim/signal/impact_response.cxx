// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/impact_response.h"

#include "spng/core/error.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace spng {
namespace {

/// Region of a path, and its position from the centre of the region in hundredths of the pitch, -50 to 0.
using PathPosition = std::pair<int, int>;

[[noreturn]] void reject(const FieldResponse& field, int plane, const std::string& seen) {
    throw Error(ErrorKind::Configuration,
                {.what = "cannot simulate the impact positions of the field response",
                 .where = field.path + ", plane " + std::to_string(plane),
                 .seen = seen,
                 .expected = "the same equally spaced paths from -1/2 to 0 pitches in each region"});
}

std::map<PathPosition, std::int64_t> paths_by_position(const PlaneResponse& response) {
    std::map<PathPosition, std::int64_t> paths_at;
    for (std::size_t path = 0; path < response.pitch_positions.size(); ++path) {
        const double position = response.pitch_positions[path] / response.pitch;
        constexpr double rounding = 1e-3; // positions in files are rounded
        const double region = std::ceil(position - rounding);
        paths_at[{static_cast<int>(region), static_cast<int>(std::lround(100 * (position - region)))}] =
            static_cast<std::int64_t>(path);
    }
    return paths_at;
}

} // namespace

ImpactResponse impact_response(const FieldResponse& field, int plane, const Electronics& electronics,
                               const ResponseKernelConfig& config) {
    const PlaneResponse& response = field.plane(plane);
    const auto paths_at = paths_by_position(response);
    const int reach = paths_at.rbegin()->first.first;
    const std::int64_t regions = 2 * reach + 1;
    const auto paths = static_cast<std::int64_t>(paths_at.size());
    const std::int64_t half = paths / regions - 1; // intervals from an edge to the centre
    if (reach < 0 || half < 1 || (half + 1) * regions != paths ||
        paths != static_cast<std::int64_t>(response.pitch_positions.size())) {
        reject(field, plane,
               std::to_string(paths) + " different positions in regions up to " + std::to_string(reach));
    }
    const auto path_at = [&](int region, std::int64_t step) { // step: -half at the edge, 0 in the centre
        const auto hundredths = std::lround(50.0 * static_cast<double>(step) / static_cast<double>(half));
        const auto found = paths_at.find({region, static_cast<int>(hundredths)});
        if (found == paths_at.end()) {
            reject(field, plane,
                   "no path at " + std::to_string(region) + " pitches " + std::to_string(hundredths) + " %");
        }
        return found->second;
    };
    const std::int64_t positions = 2 * half + 1;
    at::Tensor order = at::empty({regions * positions}, at::kLong);
    auto* path = order.mutable_data_ptr<std::int64_t>();
    for (int region = -reach; region <= reach; ++region) {
        for (std::int64_t step = -half; step <= half; ++step) {
            *path++ = step <= 0 ? path_at(region, step) : path_at(-region, -step);
        }
    }
    const at::Tensor one_side = response.current.index_select(0, order).view({regions, positions, -1});
    const at::Tensor current = one_side.add(one_side.flip({0, 1})).mul_(0.5);
    const at::Tensor kernel =
        response_kernel(current.view({regions * positions, -1}), field.period, electronics, config);
    return {kernel.view({regions, positions, kernel.size(1)}), 2 * half};
}

} // namespace spng
