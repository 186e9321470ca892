// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/cells.h"

#include "spng/core/error.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace spng {
namespace {

/// Return the end points (low, high) of each wire as coordinates along the wires of the plane [mm].
struct Extents {
    std::vector<double> low;
    std::vector<double> high;

    explicit Extents(const WirePlane& plane) {
        for (const Wire& wire : plane.wires) {
            const auto ends = std::minmax({dot(wire.tail, plane.direction), dot(wire.head, plane.direction)});
            low.push_back(ends.first);
            high.push_back(ends.second);
        }
    }
    bool contain(int wire, double along, double tolerance) const {
        return along >= low[wire] - tolerance && along <= high[wire] + tolerance;
    }
};

} // namespace

FaceCells find_cells(const WireFace& face) {
    constexpr double end_tolerance = 2.0; // pitches
    const WirePlane& plane_u = face.plane(0);
    const WirePlane& plane_v = face.plane(1);
    const WirePlane& plane_w = face.plane(2);
    const double slope =
        dot(plane_u.direction, plane_v.pitch_direction) / plane_v.pitch; // V wires per mm of U
    if (std::abs(slope) * plane_v.pitch < 1e-3) {
        throw Error(ErrorKind::Configuration, {.what = "wires of planes 0 and 1 do not cross",
                                               .where = "face " + std::to_string(face.ident),
                                               .seen = "parallel wires",
                                               .expected = "an angle between them"});
    }
    const Extents ends_u(plane_u);
    const Extents ends_v(plane_v);
    const Extents ends_w(plane_w);
    const double tolerance_v = end_tolerance * plane_v.pitch;
    const double tolerance_w = end_tolerance * plane_w.pitch;
    const int last_w = plane_w.size() - 1;

    FaceCells cells;
    for (int u = 0; u < plane_u.size(); ++u) {
        const double across = plane_u.first + plane_u.pitch * u;
        const Point2 foot{across * plane_u.pitch_direction.y, across * plane_u.pitch_direction.z};
        const double v_at_foot = plane_v.wire_coordinate(foot);
        const auto range =
            std::minmax({v_at_foot + slope * ends_u.low[u], v_at_foot + slope * ends_u.high[u]});
        const int v_begin = std::max(0, static_cast<int>(std::ceil(range.first)));
        const int v_end = std::min(plane_v.size(), 1 + static_cast<int>(std::floor(range.second)));
        for (int v = v_begin; v < v_end; ++v) {
            const double along_u = (v - v_at_foot) / slope;
            const Point2 crossing{foot.y + along_u * plane_u.direction.y,
                                  foot.z + along_u * plane_u.direction.z};
            const double coordinate_w = plane_w.wire_coordinate(crossing);
            const int nearest_w = static_cast<int>(std::lrint(coordinate_w));
            const int w = std::clamp(nearest_w, 0, last_w);
            if (!ends_v.contain(v, dot(crossing, plane_v.direction), tolerance_v) ||
                !ends_w.contain(w, dot(crossing, plane_w.direction), tolerance_w) ||
                std::abs(coordinate_w - w) > 0.5 + end_tolerance) {
                continue;
            }
            cells.clamped += nearest_w != w;
            cells.wires[0].push_back(u);
            cells.wires[1].push_back(v);
            cells.wires[2].push_back(w);
        }
    }
    return cells;
}

} // namespace spng
