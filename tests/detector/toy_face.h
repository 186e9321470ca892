// SPDX-License-Identifier: Apache-2.0
#pragma once
// A face whose cells can be computed by hand: U wires at z = 0, 1, ..., V wires at y = 0, 1, ... and diagonal
// W wires, so that U wire i crosses V wire j on W wire i + j.

#include "spng/detector/wires.h"

#include <cmath>

namespace spng::test {

/// Return n wires with centres at pitch coordinates 0, pitch, 2 pitch, ..., each from `low` to `high` along
/// its direction. Channel `first_channel` + i reads wire i.
inline WirePlane toy_plane(int ident, Point2 direction, double pitch, int n, double low, double high,
                           int first_channel) {
    WirePlane plane{.ident = ident,
                    .wires = {},
                    .direction = direction,
                    .pitch_direction = {-direction.z, direction.y},
                    .pitch = pitch,
                    .first = 0};
    for (int i = 0; i < n; ++i) {
        const Point2 foot{i * pitch * plane.pitch_direction.y, i * pitch * plane.pitch_direction.z};
        const auto point = [&](double along) {
            return Point2{foot.y + along * direction.y, foot.z + along * direction.z};
        };
        plane.wires.push_back({.ident = i,
                               .channel = first_channel + i,
                               .segment = 0,
                               .tail = point(low),
                               .head = point(high)});
    }
    return plane;
}

/// Return a face of nu x nv cells with channels U 100.., V 200.., W 300..
inline WireFace toy_face(int nu, int nv) {
    const double half = std::sqrt(0.5);
    WireFace face;
    face.planes.push_back(toy_plane(0, {1, 0}, 1.0, nu, -0.5, nv - 0.5, 100));
    face.planes.push_back(toy_plane(1, {0, -1}, 1.0, nv, -(nu - 0.5), 0.5, 200));
    face.planes.push_back(toy_plane(2, {half, -half}, half, nu + nv - 1, -100, 100, 300));
    return face;
}

} // namespace spng::test
