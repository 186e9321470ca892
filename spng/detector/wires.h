#pragma once
// Positions of all wires (or strips) of a detector and the channel that reads each of them, from a wire
// schema file of the Wire-Cell toolkit. Drift is along x; wires lie in planes of constant x, so positions are
// (y, z).

#include <array>
#include <string>
#include <vector>

namespace spng {

/// Position or direction in a wire plane, mm.
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
    int segment = 0; ///< 0: attached to the electronics; 1, 2, ...: its continuations after each wrap
    Point2 tail;
    Point2 head;
};

/// Parallel, equally spaced wires, sorted by increasing pitch coordinate.
///
/// The pitch direction has a positive z component (positive y where the wires run along z); the wire
/// direction makes x cross wire = pitch. So index order is the same sense in space on every face of every
/// anode, whatever the order in the file.
struct WirePlane {
    int ident = 0; ///< 0 U, 1 V, 2 W
    std::vector<Wire> wires;
    Point2 direction;       ///< unit vector along the wires
    Point2 pitch_direction; ///< unit vector across them
    double pitch = 0;       ///< mm between neighbours
    double first = 0;       ///< mm, pitch coordinate of the CENTRE of wire 0

    int size() const { return static_cast<int>(wires.size()); }
    /// Edge of the strip of wire 0, "ray 0" of the Wire-Cell ray grid: wire i fills [i, i+1) pitches from it.
    double origin() const { return first - 0.5 * pitch; }
    /// Position in units of wires; a whole number is the centre of that wire.
    double wire_coordinate(Point2 point) const { return (dot(point, pitch_direction) - first) / pitch; }
};

/// One drift volume's side of an anode.
struct WireFace {
    int ident = 0;
    std::vector<WirePlane> planes;

    /// Throws Error(Configuration) naming those that exist.
    const WirePlane& plane(int plane_ident) const;
};

struct WireAnode {
    int ident = 0;
    std::vector<WireFace> faces;

    /// Throws Error(Configuration) naming those that exist.
    const WireFace& face(int face_ident) const;
};

struct WireSchema {
    std::string path;
    std::vector<WireAnode> anodes;

    /// Throws Error(Configuration) naming those that exist.
    const WireAnode& anode(int anode_ident) const;
};

/// Reads {"Store": {anodes, faces, planes, wires, points}}, plain or compressed.
/// Throws Error(Configuration) for an unreadable file, a missing key, an index outside its list, a plane with
/// fewer than two wires, a wire without length, and wires that are not parallel (1 degree) or not equally
/// spaced (a quarter of the pitch).
WireSchema load_wires(const std::string& path);

} // namespace spng
