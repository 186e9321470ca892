// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of the channels of each front-end board.

#include "spng/detector/view_groups.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spng {

/// Front-end boards of a group. Each list has one value for all views or one per view.
struct Boards {
    std::vector<std::int64_t> channels; ///< channels of a view per board, with consecutive ids
    std::vector<std::int64_t> shift;    ///< index in its view of the first channel of the first board
};

/// Return the rows of the channels of each board: (board, member) int64 on the host, with the axes view and channel
/// flattened.
/// @param node  with the keys board_channels, board_shift and group, named in errors
/// @throws Error(Configuration) if they do not fit together
at::Tensor board_rows(const ViewGroup& group, const Boards& boards, const std::string& node);

} // namespace spng
