// SPDX-License-Identifier: Apache-2.0
#pragma once
// Coincidence of wire planes on packed ticks (docs/physics-notes.md#mp2-and-mp3-coincidence). For target
// channel r let X_r(t) be the OR, over the cells of r, of the AND of the masks of the two other channels of
// the cell. Then
//     MP3 = mask & X   all planes           MP2 = !mask & X   the two others only
//     MP1 = mask & !X  the target only      MP0 = !mask & !X  none
// so one array X serves all four. All masks are packed by pack_ticks.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace spng {

/// Cells of the target channels, computed once per job.
struct CoincidenceTable {
    /// (target + 1) int32: the cells of target r are pairs[offsets[r]] to pairs[offsets[r + 1] - 1]
    at::Tensor offsets;
    /// (cell, 2) int32, on devices int16 where the rows fit: rows of the two other channels in the packed masks
    at::Tensor pairs;
    std::int64_t rows;      ///< required number of rows of the packed masks
    std::int64_t max_cells; ///< largest number of cells of one target

    std::int64_t targets() const { return offsets.size(0) - 1; }
    CoincidenceTable to(at::Device device) const;
};

/// Check a table on the host and compute max_cells.
/// @throws Error(Internal) if a tensor is not int32 of that shape on the CPU, if the offsets do not increase
///         from 0 to the number of cells, or if a row is outside [0, rows)
CoincidenceTable make_coincidence_table(const at::Tensor& offsets, const at::Tensor& pairs,
                                        std::int64_t rows);

/// Return X of every target channel.
/// @param packed  (table.rows, word) int64, masks of all planes with the row indices of table.pairs
/// @return (target, word) int64; 0 for a target without cells
/// @throws Error(Internal) if `packed` does not fit the table
/// One operator call: spng::coincidence.
at::Tensor coincidence(const at::Tensor& packed, const CoincidenceTable& table);

/// Return the products MPn defined at the top of this file.
/// @param mask        (target, word) int64, mask of the target plane
/// @param crossing    (target, word) int64, X
/// @param ticks       length of a row; later bits are 0 in every product
/// @param products    values of n, 0 to 3, in the order of the result
/// @param neighbours  (target, k) int32 rows whose X is added to that of the row, as a tolerance of neighbouring
///                    wires; negative: no neighbour. The rows are not checked at each call. Empty: none.
/// @return (product, target, word) int64
/// @throws Error(Internal) if the shapes differ or do not fit `ticks`, or for another product
/// One operator call: spng::multi_plane.
at::Tensor multi_plane(const at::Tensor& mask, const at::Tensor& crossing, std::int64_t ticks,
                       const std::vector<std::int64_t>& products,
                       const std::optional<at::Tensor>& neighbours = {});

namespace kernels { // the bodies on CUDA: spng/kernels/coincidence.cxx
at::Tensor coincidence(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                       std::int64_t max_cells);
at::Tensor multi_plane(const at::Tensor& mask, const at::Tensor& crossing,
                       const std::optional<at::Tensor>& neighbours, std::int64_t ticks,
                       at::IntArrayRef products);
} // namespace kernels

} // namespace spng
