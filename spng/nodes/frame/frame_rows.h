// SPDX-License-Identifier: Apache-2.0
#pragma once
// Steps of CompactFrame: gather the rows of a frame from several tensors on a device, in the order of the frame.

#include "spng/nodes/frame/row_tiles.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// Return the number of tiles of so many rows: groups of rows whose samples are counted together.
std::int64_t tiles_for(std::int64_t rows);

/// Gather the packed masks of all rows, and count the ticks inside.
/// @param sources  1 to max_row_sources tensors (..., row, word) int64, contiguous, with words of `factor` ticks per bit
/// @param origins  (row of the frame, 2) int32: source and its row; a negative source: no row, words of 0
/// @param factor   ticks per bit, at least 1
/// @param ticks    of the frame, 1 to 2^27; bits beyond them count no ticks, the last one those that the frame has
/// @param words    receives (row of the frame, word) int64, contiguous
/// @param extents  receives (row of the frame, 2) int32: ticks inside in earlier rows of the tile, and in the row
/// @param tiles    receives (tile) int64: ticks inside
/// One operator call: spng::gather_words.
void gather_words(const std::vector<at::Tensor>& sources, const at::Tensor& origins, std::int64_t factor,
                  std::int64_t ticks, const at::Tensor& words, const at::Tensor& extents,
                  const at::Tensor& tiles);

/// Gather the samples of compacted rows, one row after the other.
/// @param sources     (..., row, tick) float32 or float64, contiguous, all of one type
/// @param origins, extents  as for gather_words; of each row, the first extents[row, 1] samples are gathered
/// @param tiles       (tile) int64; those before `first_tile` are of earlier tags, whose samples come before
/// @param first_tile  the tile of row 0
/// @param values      receives (sample) float32: those of row r begin after the ticks of all earlier tiles and
///                    extents[r, 0] more
/// One operator call: spng::gather_rows.
void gather_rows(const std::vector<at::Tensor>& sources, const at::Tensor& origins, const at::Tensor& extents,
                 const at::Tensor& tiles, std::int64_t first_tile, const at::Tensor& values);

namespace kernels { // the bodies on CUDA: spng/kernels/frames/frame_rows.cxx
void gather_words(at::TensorList sources, const at::Tensor& origins, std::int64_t factor, std::int64_t ticks,
                  const at::Tensor& words, const at::Tensor& extents, const at::Tensor& tiles);
void gather_rows(at::TensorList sources, const at::Tensor& origins, const at::Tensor& extents,
                 const at::Tensor& tiles, std::int64_t first_tile, const at::Tensor& values);
} // namespace kernels

} // namespace spng
