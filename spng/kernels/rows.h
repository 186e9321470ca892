// SPDX-License-Identifier: Apache-2.0
#pragma once
// Waveforms as arguments of kernels: rows at equal distances.

#include "spng/kernels/launch.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng::kernels {

struct Rows {
    at::Tensor samples; ///< (row, tick)
    std::int64_t rows, ticks;
    std::int64_t row_stride, tick_stride; ///< in samples
    bool staged;                          ///< a row fits into shared memory
    std::int64_t staged_bytes;            ///< shared memory for a staged row, else 0

    template <class Sample>
    const Sample* data() const {
        return samples.const_data_ptr<Sample>();
    }
};

/// Return the rows of a tensor, without a copy if they are at equal distances, as for a crop in time or every
/// n-th tick. Copies rows that are too long for shared memory and whose ticks are not adjacent.
/// @param waveforms  (..., tick), at least one sample
/// @param other_bytes  other shared memory that the kernel needs
/// @param limit        shared memory that it may have
Rows rows_of(const at::Tensor& waveforms, std::int64_t other_bytes, std::int64_t limit = max_shared_bytes);

/// Return the rows (row, tick) for kernels that do not stage them: adjacent ticks, rows at equal distances.
/// Copies only if the tensor has another layout.
at::Tensor rows_in_place(const at::Tensor& waveforms);

/// Bytes of shared memory of BlockReduction.
constexpr std::int64_t reduction_bytes = reduction_words * sizeof(std::uint64_t);

} // namespace spng::kernels
