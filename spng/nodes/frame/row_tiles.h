// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sizes of a launch for rows of a frame. Plain C++, since the kernels read it too.

namespace spng {

constexpr int max_row_sources = 4; ///< tensors that one launch gathers from
constexpr int rows_of_tile = 16;   ///< rows whose samples a block of gather_words counts

} // namespace spng
