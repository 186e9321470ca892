// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/wires.h"

#include "spng/core/error.h"
#include "spng/io/cached_file.h"
#include "spng/io/json_file.h"

#include <algorithm>
#include <cmath>

namespace spng {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& seen,
                       const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = what, .where = where, .seen = seen, .expected = expected});
}

double length(Point2 vector) {
    return std::hypot(vector.y, vector.z);
}

void cover(WireArea& area, const WireArea& other) {
    area.low = {std::min(area.low.y, other.low.y), std::min(area.low.z, other.low.z)};
    area.high = {std::max(area.high.y, other.high.y), std::max(area.high.z, other.high.z)};
}

/// A list of the file whose objects have one owner each. A file that repeats one large plane a million times
/// would take a million times its memory.
struct OwnedList {
    const json& objects;
    const char* name;
    std::vector<bool> is_used = std::vector<bool>(objects.size());

    /// Return the index that `value` holds.
    std::size_t take(const json& value, const JsonLocation& location) {
        const std::size_t index = json_index(value, objects.size(), name, location);
        if (is_used[index]) {
            fail(location.text(), "a part of the detector belongs to two others",
                 std::string(name) + "[" + std::to_string(index) + "] is used twice", "each part once");
        }
        is_used[index] = true;
        return index;
    }
};

/// The lists of the file, with their location for errors.
struct Store {
    explicit Store(const json& content, const JsonLocation& file)
        : location(file), anodes(json_list(content, "anodes", file)),
          faces{json_list(content, "faces", file), "faces"},
          planes{json_list(content, "planes", file), "planes"}, wires(json_list(content, "wires", file)),
          points(json_list(content, "points", file)) {}

    JsonLocation location;
    const json& anodes;
    OwnedList faces;
    OwnedList planes;
    const json& wires;
    const json& points;
};

Point2 read_point(const Store& store, const json& wire, const char* end, const JsonLocation& wire_location) {
    const std::size_t index =
        json_index(json_member(wire, end, wire_location), store.points.size(), end, wire_location);
    const JsonLocation location = store.location.at("points", index);
    const json& point = json_member(store.points[index], "Point", location);
    constexpr PlausibleRange position{-1e7, 1e7, "mm"};
    return {json_number(point, "y", location, position), json_number(point, "z", location, position)};
}

Wire read_wire(const Store& store, std::size_t index) {
    const JsonLocation location = store.location.at("wires", index);
    const json& wire = json_member(store.wires[index], "Wire", location);
    Wire result{.ident = json_integer(wire, "ident", location),
                .channel = json_integer(wire, "channel", location),
                .segment = json_integer(wire, "segment", location),
                .tail = read_point(store, wire, "tail", location),
                .head = read_point(store, wire, "head", location)};
    if (!(length({result.head.y - result.tail.y, result.head.z - result.tail.z}) > 0)) {
        fail(location.text(), "a wire has no length", "head and tail coincide", "two different end points");
    }
    return result;
}

Point2 upward_span(const Wire& wire) {
    const Point2 span{wire.head.y - wire.tail.y, wire.head.z - wire.tail.z};
    // x cross wire must have a positive z component, or a positive y for wires along z. Files differ in head
    // and tail.
    const bool flip = std::abs(span.y) > 1e-6 * length(span) ? span.y < 0 : span.z > 0;
    return flip ? Point2{-span.y, -span.z} : span;
}

double pitch_coordinate(const WirePlane& plane, const Wire& wire) {
    return dot({0.5 * (wire.head.y + wire.tail.y), 0.5 * (wire.head.z + wire.tail.z)}, plane.pitch_direction);
}

void check_regular(const WirePlane& plane, const std::string& where) {
    constexpr double parallel_tolerance = 0.0175; // sine of 1 degree
    constexpr double spacing_tolerance = 0.25;    // pitches; beyond it "nearest wire" is wrong
    for (int index = 0; index < plane.size(); ++index) {
        const Wire& wire = plane.wires[index];
        const Point2 span = upward_span(wire);
        // The direction of very short wires at the corners is imprecise: allow them the spacing tolerance.
        const double slant = std::abs(dot(span, plane.pitch_direction));
        if (slant > parallel_tolerance * length(span) && slant > spacing_tolerance * plane.pitch) {
            fail(where, "wires of a plane are not parallel", "wire ident " + std::to_string(wire.ident),
                 "all within 1 degree of the mean direction");
        }
        const double offset = (pitch_coordinate(plane, wire) - plane.first) / plane.pitch - index;
        if (std::abs(offset) > spacing_tolerance) {
            fail(where, "wires of a plane are not equally spaced",
                 "wire ident " + std::to_string(wire.ident) + " is " + std::to_string(offset) +
                     " pitches from its position " + std::to_string(index),
                 "all within a quarter of the mean pitch " + std::to_string(plane.pitch) + " mm");
        }
    }
}

WirePlane read_plane(const Store& store, std::size_t plane_index) {
    const JsonLocation location = store.location.at("planes", plane_index);
    const json& content = json_member(store.planes.objects[plane_index], "Plane", location);
    WirePlane plane;
    plane.ident = json_integer(content, "ident", location);
    const json& indices = json_list(content, "wires", location);
    if (indices.size() < 2) {
        fail(location.text(), "a plane has too few wires", std::to_string(indices.size()), "at least 2");
    }
    plane.wires.reserve(indices.size());
    Point2 sum;
    for (const json& index : indices) {
        plane.wires.push_back(read_wire(store, json_index(index, store.wires.size(), "wires", location)));
        const Point2 span = upward_span(plane.wires.back());
        sum = {sum.y + span.y, sum.z + span.z};
    }
    // Long wires have more weight, since their direction is more precise.
    plane.direction = {sum.y / length(sum), sum.z / length(sum)};
    plane.pitch_direction = {-plane.direction.z, plane.direction.y};
    std::stable_sort(plane.wires.begin(), plane.wires.end(), [&](const Wire& a, const Wire& b) {
        return pitch_coordinate(plane, a) < pitch_coordinate(plane, b);
    });
    plane.first = pitch_coordinate(plane, plane.wires.front());
    plane.pitch = (pitch_coordinate(plane, plane.wires.back()) - plane.first) / (plane.size() - 1);
    if (!(plane.pitch > 0)) {
        fail(location.text(), "wires of a plane coincide", "pitch 0", "a positive pitch");
    }
    check_regular(plane, location.text());
    return plane;
}

WireFace read_face(Store& store, std::size_t face_index) {
    const JsonLocation location = store.location.at("faces", face_index);
    const json& content = json_member(store.faces.objects[face_index], "Face", location);
    WireFace face{.ident = json_integer(content, "ident", location), .planes = {}};
    for (const json& index : json_list(content, "planes", location)) {
        face.planes.push_back(read_plane(store, store.planes.take(index, location)));
    }
    return face;
}

template <class Part>
const Part& find_ident(const std::vector<Part>& parts, int ident, const char* kind,
                       const std::string& where) {
    std::string known;
    for (const Part& part : parts) {
        if (part.ident == ident) {
            return part;
        }
        known += (known.empty() ? "" : ", ") + std::to_string(part.ident);
    }
    fail(where, std::string("no such ") + kind, std::string(kind) + " " + std::to_string(ident),
         "one of " + known);
}

} // namespace

double WireArea::distance(Point2 point) const {
    return length({std::max({low.y - point.y, 0.0, point.y - high.y}),
                   std::max({low.z - point.z, 0.0, point.z - high.z})});
}

WireArea area_of(const WirePlane& plane) {
    WireArea area;
    for (const Wire& wire : plane.wires) {
        cover(area, {wire.tail, wire.tail});
        cover(area, {wire.head, wire.head});
    }
    return area;
}

WireArea area_of(const WireFace& face) {
    WireArea area;
    for (const WirePlane& plane : face.planes) {
        cover(area, area_of(plane));
    }
    return area;
}

const WirePlane& WireFace::plane(int plane_ident) const {
    return find_ident(planes, plane_ident, "plane", "face " + std::to_string(ident));
}

const WireFace& WireAnode::face(int face_ident) const {
    return find_ident(faces, face_ident, "face", "anode " + std::to_string(ident));
}

const WireAnode& WireSchema::anode(int anode_ident) const {
    return find_ident(anodes, anode_ident, "anode", path);
}

WireSchema load_wires(const std::string& path) {
    const json document = load_json_file(path);
    const JsonLocation file{.file = path};
    Store store(json_member(document, "Store", file), file);
    WireSchema schema{.path = path, .anodes = {}};
    for (std::size_t position = 0; position < store.anodes.size(); ++position) {
        const JsonLocation location = store.location.at("anodes", position);
        const json& content = json_member(store.anodes[position], "Anode", location);
        WireAnode anode{.ident = json_integer(content, "ident", location), .faces = {}};
        for (const json& index : json_list(content, "faces", location)) {
            anode.faces.push_back(read_face(store, store.faces.take(index, location)));
        }
        schema.anodes.push_back(std::move(anode));
    }
    if (schema.anodes.empty()) {
        fail(path, "a wire file has no anode", "an empty list \"anodes\"", "at least one anode");
    }
    return schema;
}

WireSchema load_wires(const DataFile& file) {
    auto schema = value_of_file<WireSchema>(
        file, [](const std::string& path) { return load_wires(path); },
        [](auto& record, WireSchema& value) {
            record.list(value.anodes, [](auto& part, WireAnode& anode) { visit(part, anode); });
        });
    schema.path = file.path.string();
    return schema;
}

} // namespace spng
