#pragma once
// The crossings of a group of views, in the form that the coincidence operators take.

#include "spng/detector/anode.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// Rows are numbered through all views of the list; the group is a run of whole views.
struct GroupCrossings {
    std::int64_t first_row = 0; ///< number of the group's first row
    at::Tensor offsets;         ///< (row of the group + 1) int32: its crossings are pairs[offsets[r]] to
                                ///< pairs[offsets[r + 1] - 1]
    at::Tensor pairs;           ///< (crossing, 2) int32: rows of the two other planes that meet there
    at::Tensor
        neighbours; ///< (row of the group, k) int32: rows of the group beside it, -1 where there is none
};

/// @param views  all views of the anode that take part, in the order of their rows
/// @param first_view, count  which of them are the group
/// Throws Error(Configuration) for views that share a channel, or a face without three planes.
GroupCrossings find_group_crossings(const WireAnode& anode, const std::vector<ChannelView>& views,
                                    std::size_t first_view, std::size_t count);

} // namespace spng
