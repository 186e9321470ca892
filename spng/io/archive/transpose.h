// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace spng {

/// Turn (rows, columns) from Fortran order into C order: to[row * columns + column] = from[column * rows +
/// row]. Blocked for the caches and parallel over ATen's threads. `from` and `to` must not overlap.
/// @param item_bytes  1, 2, 4 or 8
/// @throws Error(Internal) for another item size
void fortran_to_c_order(const void* from, void* to, std::int64_t rows, std::int64_t columns,
                        std::size_t item_bytes);

} // namespace spng
