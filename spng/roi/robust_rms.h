#pragma once
// Noise level of a channel, the unit of every threshold (spng.md 5.7, 7).

#include <ATen/core/Tensor.h>

namespace spng {

/// RMS that signals hardly move. From the order statistics x16, x50, x84 of the row - sample floor(p (tick -
/// 1)) of the sorted row for p = 0.16, 0.50, 0.84, without interpolation - comes a first
///     sigma = sqrt(((x84 - x50)^2 + (x50 - x16)^2) / 2);
/// the result is the RMS about x50 of the samples with |x - x50| <= 5 sigma. A constant row gives 0.
/// @param waveforms  float32 or float64 (..., channel, tick), finite
/// @return (..., channel) of the same type, in the unit of waveforms; zeros when there are no ticks
/// Throws Error(Internal) for another type. One operator call: spng::robust_rms.
at::Tensor robust_rms(const at::Tensor& waveforms);

/// Unbiased standard deviation over time, signals included: sqrt(sum (x - mean)^2 / (tick - 1)).
/// Arguments and result as robust_rms; zeros when there are fewer than two ticks. One operator call:
/// spng::plain_rms.
at::Tensor plain_rms(const at::Tensor& waveforms);

} // namespace spng
