#pragma once
// Masks with 64 ticks to a word, the form in which regions and coincidence are computed (spng.md 5.8). Packed
// masks are int64 because ATen has bitwise operations for it on every device; the sign bit is tick 63 of its
// word.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Pack ticks: bit (t mod 64) of word (t / 64) is tick t, bits past the last tick are 0.
/// @param mask  bool (..., row, tick)
/// @return int64 (..., row, ceil(tick / 64)); no ticks give no words
/// Throws Error(Internal) when mask is not bool or has no axis. One operator call: spng::pack_ticks.
at::Tensor pack_ticks(const at::Tensor& mask);

/// Compare and pack in one pass: bit t is set where waveform(row, t) > threshold(row).
/// @param waveform   float32 or float64 (..., row, tick); rows may lie apart in memory
/// @param threshold  (..., row) of the same type; +Inf gives an empty row
/// @return int64 (..., row, ceil(tick / 64))
/// Throws Error(Internal) when shapes or types differ. One operator call: spng::pack_above.
at::Tensor pack_above(const at::Tensor& waveform, const at::Tensor& threshold);

/// The inverse of pack_ticks.
/// @param words  int64 (..., row, word)
/// @param ticks  number of ticks; word must be ceil(ticks / 64)
/// @return bool (..., row, ticks)
/// Throws Error(Internal) when words is not int64 or does not hold `ticks`. One operator call:
/// spng::unpack_ticks.
at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks);

} // namespace spng
