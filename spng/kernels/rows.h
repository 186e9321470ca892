#pragma once
// Waveforms as kernels take them: rows evenly apart.

#include "spng/kernels/sizes.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng::kernels {

struct Rows {
    at::Tensor samples; ///< (row, tick)
    std::int64_t rows, ticks;
    std::int64_t row_stride, tick_stride; ///< in samples
    bool staged;                          ///< a row fits into shared memory
    std::int64_t staged_bytes;            ///< for a staged row; 0 where it is not

    template <class Sample>
    const Sample* data() const {
        return samples.const_data_ptr<Sample>();
    }
};

/// Without a copy wherever the rows are evenly apart: a crop in time, every n-th tick. Rows that are too long
/// for shared memory and whose ticks are apart are copied.
/// @param waveforms  (..., tick), at least one sample
/// @param other_bytes  of shared memory that the kernel needs besides
Rows rows_of(const at::Tensor& waveforms, std::int64_t other_bytes);

/// The same as (row, tick) for kernels that read each row where it lies: one tick after the other, rows
/// evenly apart, a copy only of what is not so.
at::Tensor rows_in_place(const at::Tensor& waveforms);

/// Shared memory of BlockReduction.
constexpr std::int64_t reduction_bytes = reduction_words * sizeof(std::uint64_t);

} // namespace spng::kernels
