#pragma once
// The crossings of a group of views, in the form that the coincidence operators take.

#include "spng/detector/anode.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// A view, and the anode whose wires it is of.
struct AnodeView {
    const WireAnode* anode = nullptr;
    ChannelView view;
};

/// Rows are numbered through all views of the list; the group is a run of whole views.
struct GroupCrossings {
    std::int64_t first_row = 0; ///< number of the group's first row
    std::int64_t rows = 0;      ///< of all views
    /// (row of the group + 1) int32: its crossings are pairs[offsets[r]] to pairs[offsets[r + 1] - 1]
    at::Tensor offsets;
    at::Tensor pairs; ///< (crossing, 2) int32: rows of the two other planes that meet there
    /// (row of the group, k) int32: rows of the group beside it, -1 where there is none
    at::Tensor neighbours;
};

/// Wires of different anodes never meet: each row has the crossings of its own anode.
/// @param views  all views that take part, of one anode or several, in the order of their rows
/// @param first_view, count  which of them are the group
/// Throws Error(Configuration) for views of one anode that share a channel, or a face without three planes.
GroupCrossings find_group_crossings(const std::vector<AnodeView>& views, std::size_t first_view,
                                    std::size_t count);

} // namespace spng
