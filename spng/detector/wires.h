// SPDX-License-Identifier: Apache-2.0
#pragma once
// Positions and channels of all wires (or strips) of a detector, from a wire schema file of the Wire-Cell
// Toolkit. Drift is along x. Wires are in planes of constant x, so positions are (y, z).

#include "spng/io/data_file.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace spng {

/// Position or direction in a wire plane [mm].
struct Point2 {
    double y = 0;
    double z = 0;
};
inline double dot(Point2 a, Point2 b) {
    return a.y * b.y + a.z * b.z;
}

struct Wire {
    int ident = 0;
    int channel = 0;
    int segment = 0; ///< 0: attached to the electronics; 1, 2, ...: continuations after each wrap
    Point2 tail;
    Point2 head;
};

/// Parallel, equally spaced wires, sorted by increasing pitch coordinate.
///
/// The pitch direction has a positive z component (positive y if the wires run along z). The wire direction
/// fulfils x cross wire = pitch. The order of indices therefore has the same sense in space on every face of
/// every anode, independent of the order in the file.
struct WirePlane {
    int ident = 0; ///< 0 U, 1 V, 2 W
    std::vector<Wire> wires;
    Point2 direction;       ///< unit vector along the wires
    Point2 pitch_direction; ///< unit vector across them
    double pitch = 0;       ///< distance of neighbours [mm]
    double first = 0;       ///< pitch coordinate of the CENTRE of wire 0 [mm]

    int size() const { return static_cast<int>(wires.size()); }
    /// Return the pitch coordinate in units of wires; an integer is the centre of that wire.
    double wire_coordinate(Point2 point) const { return (dot(point, pitch_direction) - first) / pitch; }
};

/// Rectangle in y and z that contains wires [mm]. Without any wire, `low` is infinite and `high` minus infinite.
struct WireArea {
    Point2 low{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    Point2 high{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

    /// Return the distance of a point, 0 inside.
    double distance(Point2 point) const;
};

/// Return the smallest rectangle that contains all wires of a plane.
WireArea area_of(const WirePlane& plane);

/// The side of an anode towards one drift volume.
struct WireFace {
    int ident = 0;
    std::vector<WirePlane> planes;

    /// Return the plane of that ident.
    /// @throws Error(Configuration) if there is none; names the existing ones
    const WirePlane& plane(int plane_ident) const;
};

/// Return the smallest rectangle that contains all wires of a face.
WireArea area_of(const WireFace& face);

struct WireAnode {
    int ident = 0;
    std::vector<WireFace> faces;

    /// Return the face of that ident.
    /// @throws Error(Configuration) if there is none; names the existing ones
    const WireFace& face(int face_ident) const;
};

/// Describe an anode to a RecordWriter or RecordReader, value by value: structures have undefined bytes between their members.
template <class Record>
void visit(Record& record, WireAnode& anode) {
    const auto visit_wire = [](auto& part, Wire& wire) {
        part.value(wire.ident);
        part.value(wire.channel);
        part.value(wire.segment);
        part.value(wire.tail);
        part.value(wire.head);
    };
    const auto visit_plane = [&](auto& part, WirePlane& plane) {
        part.value(plane.ident);
        part.list(plane.wires, visit_wire);
        part.value(plane.direction);
        part.value(plane.pitch_direction);
        part.value(plane.pitch);
        part.value(plane.first);
    };
    const auto visit_face = [&](auto& part, WireFace& face) {
        part.value(face.ident);
        part.list(face.planes, visit_plane);
    };
    record.value(anode.ident);
    record.list(anode.faces, visit_face);
}

struct WireSchema {
    std::string path;
    std::vector<WireAnode> anodes;

    /// Return the anode of that ident.
    /// @throws Error(Configuration) if there is none; names the existing ones
    const WireAnode& anode(int anode_ident) const;
};

/// Read {"Store": {anodes, faces, planes, wires, points}}, plain or compressed.
/// @throws Error(Configuration) for an unreadable file, a missing key, an index outside its list, a plane
/// with fewer than two wires, a wire without length, and wires that are not parallel (1 degree) or not
/// equally spaced (a quarter of the pitch)
WireSchema load_wires(const std::string& path);

/// Return the same, from the user's cache if the content is known there.
WireSchema load_wires(const DataFile& file);

} // namespace spng
