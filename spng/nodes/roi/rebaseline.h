#pragma once
// Regions of interest applied to the charge waveform (spng.md 5.10, 5.10c): zero outside, and inside a
// baseline that fits the plane. The mask may be coarser than the waveform; the product of both is never made.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Induction planes, whose low-frequency noise is large. For each maximal run [s, e] of ticks inside the
/// regions
///     y_k = x_k - (x_s + (x_e - x_s) (k - s) / (e - s)),
/// 0 outside. Both ends of a run become exactly 0; runs end at the ends of the row; a run of a single tick
/// keeps its value.
/// @param signal  float32 or float64 (..., channel, tick), finite
/// @param mask    bool (..., channel, slice): tick k lies in slice k / factor; slice = ceil(tick / factor)
/// @param factor  ticks of a slice, 1 or more
/// @return shape and type of signal
/// Throws Error(Internal) when shapes or types do not fit. One operator call: spng::apply_regions_linear.
at::Tensor apply_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);

/// Collection planes, where a line through the ends of a region would cost charge. Inside the regions
///     y_k = x_k - mean of the channel's ticks outside all regions,
/// 0 outside. A channel that lies wholly inside has nothing to take a baseline from and keeps its values.
/// Arguments, result and errors as apply_regions_linear. One operator call: spng::apply_regions_restored.
at::Tensor apply_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);

} // namespace spng
