// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compositions of ATen operations hold many temporaries, some of them wider than their input. Working on a few
// rows at a time keeps them small, so that the memory plan need not know which operators are compositions.

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>

namespace spng {

/// Limit of the temporaries of a composition [bytes]. Much smaller chunks would leave a device idle.
inline constexpr std::int64_t composition_bytes = std::int64_t{64} << 20;

/// Limit on the CPU where the temporaries should stay in its caches [bytes].
inline constexpr std::int64_t cached_composition_bytes = std::int64_t{4} << 20;

/// Return the number of rows of which the temporaries fit into the limit, at least 1.
inline std::int64_t rows_of_chunk(std::int64_t bytes_of_row, std::int64_t limit = composition_bytes) {
    return std::max<std::int64_t>(1, limit / std::max<std::int64_t>(1, bytes_of_row));
}

/// Call work(first row, number of rows) for all rows in chunks.
/// @param bytes_of_row  temporaries of one row
/// @param limit         of the temporaries [bytes]
template <class Work>
void for_row_chunks(std::int64_t rows, std::int64_t bytes_of_row, const Work& work,
                    std::int64_t limit = composition_bytes) {
    const std::int64_t chunk = rows_of_chunk(bytes_of_row, limit);
    for (std::int64_t first = 0; first < rows; first += chunk) {
        work(first, std::min(chunk, rows - first));
    }
}

/// Return a tensor (..., row, sample) as (row, sample).
inline at::Tensor as_rows(const at::Tensor& tensor) {
    return tensor.reshape({-1, tensor.size(-1)});
}

} // namespace spng
