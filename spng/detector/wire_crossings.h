// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of the channels that cross each other. A coincidence kernel reads them once per target plane.

#include "spng/detector/anode.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spng {

// Row indices run through all views in the order of the list: the first view has rows 0 .. n0 - 1, the second
// n0 .. n0 + n1 - 1, and so on. A plane may have several views, such as the collection wires of the two
// faces.

/// Cells of all faces of an anode, as rows.
struct AnodeCells {
    std::array<std::vector<std::int32_t>, 3> rows; ///< by plane 0, 1, 2: the row of each cell
    std::size_t clamped = 0;                       ///< see FaceCells
    std::size_t without_row = 0;                   ///< cells left out because a channel is in no view

    std::size_t size() const { return rows[0].size(); }
};

/// Find the cells of an anode.
/// @throws Error(Configuration) for a channel in two views, and as find_cells()
AnodeCells find_anode_cells(const WireAnode& anode, const std::vector<ChannelView>& views);

/// Crossings of the channels of a target plane with those of the two other planes. All tensors are int32 on
/// the CPU.
///
/// Pairs [offsets[i], offsets[i + 1]) are the rows a and b of the two other planes that cross target_rows[i].
/// With X_i = OR over its pairs of (mask[a] AND mask[b]), three-plane coincidence is MP3 = mask AND X, and
/// two-plane coincidence is MP2 = X AND NOT mask (docs/physics-notes.md#mp2-and-mp3-coincidence). Pairs of a
/// row are sorted by a, then b. Each pair occurs once, although a wrapped channel may cross the same two
/// channels on several of its segments.
///
/// Neighbours give a tolerance of +-1 wire: use X_i OR X_j for all j of [neighbour_offsets[i],
/// neighbour_offsets[i + 1]). They are the channels of the wires next to any wire of the channel, ascending.
/// For wrapped planes these are the next rows, cyclically, since the last wire of one segment is followed by
/// the first of the next. The tolerance is by channel: all segments of a neighbour count, including those
/// where the two are not adjacent.
struct WireCrossings {
    int target_plane = 0;
    std::array<int, 2> auxiliary_planes{1, 2}; ///< planes of a and b, ascending
    at::Tensor target_rows;                    ///< (target) row of each target among all views
    at::Tensor offsets;                        ///< (target + 1)
    at::Tensor pairs;                          ///< (cell, 2) rows a and b among all views
    at::Tensor neighbour_offsets;              ///< (target + 1)
    at::Tensor neighbours;                     ///< (neighbour) indices in target_rows
};

/// Make the table of one target plane.
/// @throws Error(Configuration) if target_plane is not 0, 1 or 2
WireCrossings make_wire_crossings(const WireAnode& anode, const std::vector<ChannelView>& views,
                                  const AnodeCells& cells, int target_plane);

} // namespace spng
