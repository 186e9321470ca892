#pragma once
// The first step of deconvolution (spng.md 5.5 a to c): baseline off, room for the linear convolution on.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace spng {

/// y(c, t) = x(c, t) - median_t x(c, t) for t < tick, and 0 for tick <= t < padded_ticks. The median is the
/// lower one, sample floor((tick - 1) / 2) of the sorted row, as torch::median has it. One pass over memory.
/// @param waveforms     int16, float32 or float64 (..., channel, tick); real numbers are finite where good
/// @param padded_ticks  length of the result, at least tick
/// @param type          at::kFloat or at::kDouble, type of the result. The difference is formed in it, or in
/// float64 when
///                      waveforms are float64, and then rounded.
/// @param good          bool (..., channel), on the device of waveforms: rows that are not good become zero
/// whatever they
///                      hold (dead channels, NaN, Inf). Without it all rows are good.
/// @return (..., channel, padded_ticks); zeros when there are no ticks
/// Throws Error(Internal) when a shape or a type is another one. One operator call:
/// spng::subtract_baseline_and_pad.
at::Tensor subtract_baseline_and_pad(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                     at::ScalarType type,
                                     const std::optional<at::Tensor>& good = std::nullopt);

} // namespace spng
