// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/joined_anode.h"

#include "spng/core/error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace spng {
namespace {

[[noreturn]] void fail(int part, const std::string& seen, const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = "anodes of the wire file cannot be joined",
                                           .where = "anode " + std::to_string(part),
                                           .seen = seen,
                                           .expected = expected,
                                           .hint = "correct anode_parts of the detector"});
}

/// Return the area that all planes cover, each with the halves of its pitch beside its outer wires.
WireArea common_area(const WireFace& face) {
    WireArea common;
    for (const WirePlane& plane : face.planes) {
        WireArea area = area_of(plane);
        const double half = 0.5 * plane.pitch;
        const Point2 beside{half * std::abs(plane.pitch_direction.y),
                            half * std::abs(plane.pitch_direction.z)};
        area = {{area.low.y - beside.y, area.low.z - beside.z},
                {area.high.y + beside.y, area.high.z + beside.z}};
        common = &plane == &face.planes.front()
                     ? area
                     : WireArea{{std::max(common.low.y, area.low.y), std::max(common.low.z, area.low.z)},
                                {std::min(common.high.y, area.high.y), std::min(common.high.z, area.high.z)}};
    }
    return common;
}

/// Cut the wire to the area. Return false if nothing remains.
bool clip(Wire& wire, const WireArea& area) {
    const Point2 start = wire.tail, span{wire.head.y - start.y, wire.head.z - start.z};
    double first = 0, last = 1; // of the way from tail to head
    const auto limit = [&](double position, double way, double low, double high) {
        if (way == 0) {
            first = position < low || position > high ? 1 : first;
            return;
        }
        const auto [enter, leave] = std::minmax({(low - position) / way, (high - position) / way});
        first = std::max(first, enter);
        last = std::min(last, leave);
    };
    limit(start.y, span.y, area.low.y, area.high.y);
    limit(start.z, span.z, area.low.z, area.high.z);
    const auto point = [&](double part) { return Point2{start.y + part * span.y, start.z + part * span.z}; };
    wire.tail = point(first);
    wire.head = point(last);
    return first < last;
}

WirePlane clipped(const WirePlane& plane, const WireArea& area, int part) {
    WirePlane result = plane;
    result.wires.clear();
    int first = -1, end = -1;
    for (int index = 0; index < plane.size(); ++index) {
        Wire wire = plane.wires[index];
        if (!clip(wire, area)) {
            continue;
        }
        first = first < 0 ? index : first;
        end = index + 1;
        result.wires.push_back(wire);
    }
    if (result.size() < 2 || result.size() != end - first) {
        fail(part,
             std::to_string(result.size()) + " wires of plane " + std::to_string(plane.ident) +
                 " in the area of all planes",
             "at least 2 neighbouring ones");
    }
    result.first += plane.pitch * first;
    return result;
}

} // namespace

WireAnode joined_anode(const WireSchema& schema, int ident, const std::vector<int>& parts) {
    WireAnode result{.ident = ident, .faces = {}};
    std::map<std::pair<int, int>, int> pieces; // of a plane and channel on the faces so far
    for (const int part : parts) {
        const WireAnode& anode = schema.anode(part);
        if (anode.faces.size() != 1) {
            fail(part, std::to_string(anode.faces.size()) + " faces", "one face");
        }
        if (std::count(parts.begin(), parts.end(), part) > 1) {
            fail(part, "listed twice", "each anode once");
        }
        const WireArea area = common_area(anode.faces.front());
        WireFace face{.ident = static_cast<int>(result.faces.size()), .planes = {}};
        for (const WirePlane& plane : anode.faces.front().planes) {
            face.planes.push_back(clipped(plane, area, part));
            for (Wire& wire : face.planes.back().wires) {
                wire.segment += pieces[{plane.ident, wire.channel}];
            }
            for (const Wire& wire : face.planes.back().wires) {
                ++pieces[{plane.ident, wire.channel}];
            }
        }
        result.faces.push_back(std::move(face));
    }
    return result;
}

} // namespace spng
