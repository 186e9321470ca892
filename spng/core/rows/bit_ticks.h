// SPDX-License-Identifier: Apache-2.0
#pragma once
// Masks packed with 64 ticks in a word, the format in which ROIs and coincidence are computed
// (docs/decisions/packed-masks.md). Packed masks are int64, because ATen has bitwise operations for int64 on
// every device; the sign bit is tick 63 of its word.

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace spng {

/// Pack a mask: bit (t mod 64) of word (t / 64) is tick t; bits past the last tick are 0.
/// @param mask  (..., row, tick) bool
/// @return (..., row, ceil(tick / 64)) int64
/// @throws Error(Internal) if `mask` is not bool or has no axis
/// One operator call: spng::pack_ticks.
at::Tensor pack_ticks(const at::Tensor& mask);

/// Rows with the noise that is the unit of their thresholds.
struct LevelRows {
    /// (..., row, tick) float32 or float64; rows need not be adjacent in memory
    at::Tensor waveform;
    /// (..., row), type of the waveform; empty: 0
    std::optional<at::Tensor> rms = {};
    std::optional<at::Tensor> pedestal = {}; ///< as `rms`
};

/// A threshold for each row of a waveform: (factor rms + pedestal) + nominal, computed in the type of the waveform.
struct Level {
    std::int64_t waveform = 0; ///< index in the list of waveforms
    double factor = 0;
    double nominal = 0;
};

/// Compare waveforms with thresholds and pack the results, in one pass over each waveform: bit t is set where
/// waveform(row, t) is above the threshold of the row.
/// @param inputs  at least one, all of one shape and type
/// @param good    (..., row) bool: all other rows have no sample above a threshold; empty: all rows are good
/// @return (level, ..., row, ceil(tick / 64)) int64
/// @throws Error(Internal) if shapes or types differ, or if a level has a waveform that is not in the list
/// One operator call: spng::pack_levels.
at::Tensor pack_levels(const std::vector<LevelRows>& inputs, const std::vector<Level>& levels,
                       const std::optional<at::Tensor>& good = {});

/// Unpack a mask; inverse of pack_ticks.
/// @param words  (..., row, ceil(ticks / 64)) int64
/// @return (..., row, ticks) bool
/// @throws Error(Internal) for another type or number of words
/// One operator call: spng::unpack_ticks.
at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks);

namespace kernels { // the bodies on CUDA: spng/kernels/bit_ticks.cxx
at::Tensor pack_ticks(const at::Tensor& mask);
at::Tensor pack_levels(at::TensorList waveforms, const c10::List<std::optional<at::Tensor>>& rms,
                       const c10::List<std::optional<at::Tensor>>& pedestals,
                       const std::optional<at::Tensor>& good, at::IntArrayRef waveform_of_level,
                       at::ArrayRef<double> factors, at::ArrayRef<double> nominals);
at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks);
} // namespace kernels

} // namespace spng
