#pragma once
// Cells: the places where a wire of each plane meet. Charge in a cell is seen by all three wires; that is
// what multi-plane coincidence asks for.

#include "spng/detector/wires.h"

#include <array>
#include <cstddef>
#include <vector>

namespace spng {

/// Wire indices (in pitch order) of the cells of one face.
struct FaceCells {
    std::array<std::vector<int>, 3> wires; ///< by plane 0, 1, 2; three lists of equal length
    std::size_t clamped = 0;               ///< cells beyond the outer wire of plane 2, given to that wire

    std::size_t size() const { return wires[0].size(); }
};

/// One cell for each crossing of a wire CENTRE line of plane 0 with one of plane 1, joined by the wire of
/// plane 2 whose centre is nearest. (The crossing of strip edges, as ray grids give it, is a different
/// place and selects another wire for up to 60 % of the cells: ../shared/docs/spng.md, D9.)
///
/// The crossing must lie between the end points of the wire of plane 0; the wires of the other two planes may
/// end, or the plane of the last may stop, up to two pitches before it. Wire frames differ by some
/// millimetres, and charge drifting into such a border is collected by the nearest wire that exists.
/// ProtoDUNE-HD has 600 694 cells on each face, 0.25 % of them clamped.
///
/// Throws Error(Configuration) unless the face has planes 0, 1 and 2 with wires 0 and 1 not parallel.
FaceCells find_cells(const WireFace& face);

} // namespace spng
