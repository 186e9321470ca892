// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/transpose.h"

#include "spng/core/error.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <string>

namespace spng {

namespace {

// Tiles of 128 x 128 items: whole cache lines, few pages at a time, and the copy of a tile stays in the
// second-level cache (32 kB for int16).
constexpr std::int64_t tile = 128;

/// Transpose one tile through a copy. Without the copy, the columns are a small multiple of a power of two
/// apart (5120 bytes for 2560 channels of int16), fall into few sets of the first-level cache, and evict each
/// other.
template <typename Item>
void transpose_tile(const Item* from, Item* to, std::int64_t rows, std::int64_t columns, std::int64_t row_end,
                    std::int64_t column_end) {
    Item copy[tile][tile];
    for (std::int64_t column = 0; column < column_end; ++column) {
        std::copy_n(from + column * rows, row_end, copy[column]);
    }
    for (std::int64_t row = 0; row < row_end; ++row) {
        for (std::int64_t column = 0; column < column_end; ++column) {
            to[row * columns + column] = copy[column][row];
        }
    }
}

template <typename Item>
void transpose(const void* from, void* to, std::int64_t rows, std::int64_t columns) {
    const auto* source = static_cast<const Item*>(from);
    auto* target = static_cast<Item*>(to);
    const std::int64_t row_tiles = (rows + tile - 1) / tile;
    at::parallel_for(0, row_tiles, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin * tile; row < std::min(end * tile, rows); row += tile) {
            for (std::int64_t column = 0; column < columns; column += tile) {
                transpose_tile(source + column * rows + row, target + row * columns + column, rows, columns,
                               std::min(tile, rows - row), std::min(tile, columns - column));
            }
        }
    });
}

} // namespace

void fortran_to_c_order(const void* from, void* to, std::int64_t rows, std::int64_t columns,
                        std::size_t item_bytes) {
    switch (item_bytes) {
    case 1:
        return transpose<std::uint8_t>(from, to, rows, columns);
    case 2:
        return transpose<std::uint16_t>(from, to, rows, columns);
    case 4:
        return transpose<std::uint32_t>(from, to, rows, columns);
    case 8:
        return transpose<std::uint64_t>(from, to, rows, columns);
    default:
        throw Error(ErrorKind::Internal, {.what = "items of this size cannot be transposed",
                                          .where = "fortran_to_c_order",
                                          .seen = std::to_string(item_bytes) + " bytes",
                                          .expected = "1, 2, 4 or 8",
                                          .hint = "report this defect"});
    }
}

} // namespace spng
