#pragma once
// Which channels meet which others, as tables that a coincidence kernel walks through once per target plane.

#include "spng/detector/anode.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spng {

/// Rows of several views are numbered through, one view after another in the order of the list: the first
/// view has rows 0 .. n0 - 1, the second n0 .. n0 + n1 - 1, ... . Views of one plane (collection wires of the
/// two faces) may be separate; together they are that plane.

/// Cells of all faces of an anode as rows.
struct AnodeCells {
    std::array<std::vector<std::int32_t>, 3> rows; ///< by plane 0, 1, 2: the row of each cell
    std::size_t clamped = 0;                       ///< see FaceCells
    std::size_t without_row = 0;                   ///< cells left out, since some channel is in no view

    std::size_t size() const { return rows[0].size(); }
};

/// Throws Error(Configuration) for a channel that two views hold, and as find_cells does.
AnodeCells find_anode_cells(const WireAnode& anode, const std::vector<ChannelView>& views);

/// For target row i, target_rows[i], the pairs [offsets[i], offsets[i + 1]) name all rows of the two other
/// planes that meet it: with X_i = OR over its pairs of (mask[a] AND mask[b]), three-plane coincidence is
/// MP3 = mask AND X and two-plane coincidence MP2 = X AND NOT mask (../shared/docs/spng.md 5.8).
///
/// All tensors are int32 on the CPU. Pairs of a row are sorted by a, then b, each pair once: a wrapped
/// channel may meet the same two channels on several of its segments.
///
/// Neighbours serve a tolerance of +-1 wire: X_i OR X_j for all j of [neighbour_offsets[i],
/// neighbour_offsets[i + 1]). They are the channels of the wires next to any wire of the channel, ascending.
/// For wrapped planes these are the rows next to it, cyclically: the last wire of one segment is followed by
/// the first of the next one. The tolerance is thus by channel: all segments of a neighbour count, also those
/// on which the two are not side by side.
struct WireCrossings {
    int target_plane = 0;
    std::array<int, 2> auxiliary_planes{1, 2}; ///< planes of a and b, ascending
    at::Tensor target_rows;                    ///< (target) row of each target in the numbering of all views
    at::Tensor offsets;                        ///< (target + 1)
    at::Tensor pairs;                          ///< (cell, 2) rows a and b in the numbering of all views
    at::Tensor neighbour_offsets;              ///< (target + 1)
    at::Tensor neighbours;                     ///< (neighbour) positions in target_rows
};

/// Throws Error(Configuration) when target_plane is not 0, 1 or 2.
WireCrossings make_wire_crossings(const WireAnode& anode, const std::vector<ChannelView>& views,
                                  const AnodeCells& cells, int target_plane);

} // namespace spng
