#pragma once
// Coincidence of wire planes on packed ticks. For target channel r let X_r(t) be the OR, over the cells that
// r goes through, of the AND of the masks of the two other channels of the cell. Then (spng.md 5.8)
//     MP3 = mask & X   all planes           MP2 = !mask & X   the two others only
//     MP1 = mask & !X  the target only      MP0 = !mask & !X  neither
// so one array X serves all four. All masks are packed as by pack_ticks.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// The cells of one target plane, made once when the job is configured.
struct CoincidenceTable {
    /// int32 (target + 1): the cells of target r are pairs[offsets[r]] to pairs[offsets[r + 1] - 1]
    at::Tensor offsets;
    at::Tensor pairs;  ///< int32 (cell, 2): rows, in the packed masks, of the two other channels of each cell
    std::int64_t rows; ///< number of rows that the packed masks must have
    std::int64_t max_cells; ///< the largest number of cells of one target

    std::int64_t targets() const { return offsets.size(0) - 1; }
    CoincidenceTable to(at::Device device) const;
};

/// Checks and completes a table on the host. Throws Error(Internal) when a tensor is not int32 of that shape
/// on the CPU, offsets do not rise from 0 to the number of cells, or a row lies outside [0, rows).
CoincidenceTable make_coincidence_table(const at::Tensor& offsets, const at::Tensor& pairs,
                                        std::int64_t rows);

/// X of every target channel.
/// @param packed  int64 (table.rows, word), the masks of all planes, row numbers as in table.pairs
/// @return int64 (target, word); a target without cells has no bit set
/// Throws Error(Internal) when packed does not fit the table. One operator call: spng::coincidence.
at::Tensor coincidence(const at::Tensor& packed, const CoincidenceTable& table);

/// Tolerance of neighbouring wires: each row with its neighbours' rows OR-ed in.
/// @param packed      int64 (row, word)
/// @param neighbours  int32 (row, k) row numbers; a negative number means that there is no such neighbour
/// @return int64 (row, word)
/// Row numbers are not checked against the number of rows on every call; they are the caller's constant.
/// Throws Error(Internal) when a shape or type is wrong. One operator call: spng::or_neighbours.
at::Tensor or_neighbours(const at::Tensor& packed, const at::Tensor& neighbours);

/// MPn of the head of this file, n = 0..3.
/// @param mask      int64 (target, word), the target plane's own mask
/// @param crossing  int64 (target, word), X, or X with its neighbours
/// @param ticks     number of ticks; bits past the last one are 0 in every product
/// @param products  which n are wanted, in this order
/// @return int64 (product, target, word)
/// Throws Error(Internal) when the shapes differ, do not hold `ticks`, or a product is not 0..3. One operator
/// call: spng::multi_plane.
at::Tensor multi_plane(const at::Tensor& mask, const at::Tensor& crossing, std::int64_t ticks,
                       const std::vector<std::int64_t>& products);

} // namespace spng
