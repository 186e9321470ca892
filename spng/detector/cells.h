// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cells: the positions where a wire of each plane meet. All three wires see charge in a cell; multi-plane
// coincidence uses this.

#include "spng/detector/wires.h"

#include <array>
#include <cstddef>
#include <vector>

namespace spng {

/// Wire indices (in pitch order) of the cells of one face.
struct FaceCells {
    std::array<std::vector<int>, 3> wires; ///< by plane 0, 1, 2; three lists of equal length
    std::size_t clamped = 0;               ///< cells beyond the outer wire of plane 2, assigned to that wire

    std::size_t size() const { return wires[0].size(); }
};

/// Return one cell per crossing of the CENTRE lines of a wire of plane 0 and a wire of plane 1, with the wire
/// of plane 2 whose centre is nearest (docs/physics-notes.md#cells). The crossing of strip edges, as in ray
/// grids, is another position and selects another wire of plane 2 for up to 60 % of the cells.
///
/// The crossing must be between the end points of the wire of plane 0. The wires of plane 1 may end, and
/// plane 2 may stop, up to two pitches before it: wire frames differ by some millimetres, and the nearest
/// existing wire collects charge that drifts into such a border. ProtoDUNE-HD has 600 694 cells on each face,
/// 0.25 % of them clamped.
///
/// @throws Error(Configuration) unless the face has planes 0, 1 and 2, and the wires of 0 and 1 are not
/// parallel
FaceCells find_cells(const WireFace& face);

} // namespace spng
