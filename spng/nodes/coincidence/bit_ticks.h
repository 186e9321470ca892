// SPDX-License-Identifier: Apache-2.0
#pragma once
// Masks packed with 64 ticks in a word, the format in which ROIs and coincidence are computed
// (docs/decisions/packed-masks.md). Packed masks are int64, because ATen has bitwise operations for int64 on
// every device; the sign bit is tick 63 of its word.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace spng {

/// Pack a mask: bit (t mod 64) of word (t / 64) is tick t; bits past the last tick are 0.
/// @param mask  (..., row, tick) bool
/// @return (..., row, ceil(tick / 64)) int64
/// @throws Error(Internal) if `mask` is not bool or has no axis
/// One operator call: spng::pack_ticks.
at::Tensor pack_ticks(const at::Tensor& mask);

/// Threshold of each row: (factor rms + pedestal) + nominal, computed in the type of the waveform.
struct Threshold {
    /// (..., row), type of the waveform
    at::Tensor rms = {};
    double factor = 1;
    /// Shape and type of `rms`; empty: 0.
    std::optional<at::Tensor> pedestal = {};
    double nominal = 0;
    /// (..., row) bool: all other rows have no sample above the threshold; empty: all rows are good.
    std::optional<at::Tensor> good = {};
};

/// Compare and pack in one pass: bit t is set where waveform(row, t) is above the row's threshold.
/// @param waveform  (..., row, tick) float32 or float64; rows need not be adjacent in memory
/// @return (..., row, ceil(tick / 64)) int64
/// @throws Error(Internal) if shapes or types differ
/// One operator call: spng::pack_above.
at::Tensor pack_above(const at::Tensor& waveform, const Threshold& threshold);

/// Unpack a mask; inverse of pack_ticks.
/// @param words  (..., row, ceil(ticks / 64)) int64
/// @return (..., row, ticks) bool
/// @throws Error(Internal) for another type or number of words
/// One operator call: spng::unpack_ticks.
at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks);

} // namespace spng
