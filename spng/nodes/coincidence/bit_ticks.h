#pragma once
// Masks with 64 ticks to a word, the form in which regions and coincidence are computed (spng.md 5.8). Packed
// masks are int64 because ATen has bitwise operations for it on every device; the sign bit is tick 63 of its
// word.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace spng {

/// Pack ticks: bit (t mod 64) of word (t / 64) is tick t, bits past the last tick are 0.
/// @param mask  bool (..., row, tick)
/// @return int64 (..., row, ceil(tick / 64)); no ticks give no words
/// Throws Error(Internal) when mask is not bool or has no axis. One operator call: spng::pack_ticks.
at::Tensor pack_ticks(const at::Tensor& mask);

/// What a sample must exceed: (factor rms + pedestal) + nominal, in the type of the waveform.
struct Threshold {
    at::Tensor rms = {};                     ///< (..., row), type of the waveform
    double factor = 1;                       ///< of the RMS
    std::optional<at::Tensor> pedestal = {}; ///< as rms; none is 0
    double nominal = 0;                      ///< the same for all rows
    std::optional<at::Tensor> good =
        {}; ///< bool (..., row): rows that are not good exceed nothing; none: all are
};

/// Compare and pack in one pass: bit t is set where waveform(row, t) is above the row's threshold.
/// @param waveform  float32 or float64 (..., row, tick); rows may lie apart in memory
/// @return int64 (..., row, ceil(tick / 64))
/// Throws Error(Internal) when shapes or types differ. One operator call: spng::pack_above.
at::Tensor pack_above(const at::Tensor& waveform, const Threshold& threshold);

/// The inverse of pack_ticks.
/// @param words  int64 (..., row, word)
/// @param ticks  number of ticks; word must be ceil(ticks / 64)
/// @return bool (..., row, ticks)
/// Throws Error(Internal) when words is not int64 or does not hold `ticks`. One operator call:
/// spng::unpack_ticks.
at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks);

} // namespace spng
