// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wire crossings of a view group, in the format of the coincidence operators.

#include "spng/detector/anode.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// View of an anode.
struct AnodeView {
    const WireAnode* anode = nullptr;
    ChannelView view;
};

/// Crossings of the rows of a group. Row indices count the rows of all views in the list; the group is a
/// range of these views.
struct GroupCrossings {
    std::int64_t first_row = 0; ///< index of the first row of the group
    std::int64_t rows = 0;      ///< number of rows of all views
    /// (row of the group + 1) int32: the crossings of row r are pairs[offsets[r]] to pairs[offsets[r + 1] -
    /// 1]
    at::Tensor offsets;
    at::Tensor pairs; ///< (crossing, 2) int32: rows of the two other planes that cross there
    /// (row of the group, k) int32: neighbouring rows, counted from the first row of the group; -1: none
    at::Tensor neighbours;
};

/// Find the crossings of a group. Each row has crossings with the wires of its own anode only.
/// @param views              all views of one or more anodes, in the order of their rows
/// @param first_view, count  range of the views of the group
/// @throws Error(Configuration) if views of one anode share a channel, or a face does not have three planes
GroupCrossings find_group_crossings(const std::vector<AnodeView>& views, std::size_t first_view,
                                    std::size_t count);

} // namespace spng
