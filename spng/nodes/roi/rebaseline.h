// SPDX-License-Identifier: Apache-2.0
#pragma once
// Apply ROIs to the charge waveform: zero outside, and inside a baseline that suits the plane
// (docs/physics-notes.md#roi-application). The mask may have a coarser sampling than the waveform and is not
// upsampled.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Subtract a linear baseline, for induction planes with their large low-frequency noise. It passes through a level on
/// either side of an ROI, where the charge is gone, so that an ROI need not reach that far. For each maximal run
/// [s, e) of ticks inside the ROIs
///     left   = mean of x over [s - p - 4, s - p + 4),   p = min(6, half the ticks to the previous ROI)
///     right  = mean of x over [e + q - 4, e + q + 4),   q = min(6, half the ticks to the next ROI)
///     y_k    = x_k - (left + (right - left) (k - s + p + 1/2) / (e - s + p + q)),
/// 0 outside. A level that would need ticks beyond the ends of the row is equal to the other one; if both would, they are 0.
/// If the sum S of a run is negative, its baseline bends at its first lowest tick m, until the sum is -S or y_m is 0:
///     y_k - b (k - s + 1) / (m - s + 1) for k <= m,   y_k - b (e - k) / (e - m) for k > m,
///     b = y_m min(1, 4 S / (y_m (e - s + 1))).
/// docs/decisions/levels.md has the reasons.
/// @param signal  (..., channel, tick) float32 or float64, finite
/// @param mask    (..., channel, word) int64, packed by pack_ticks: tick k is in slice k / factor; ceil(tick / factor)
///                slices
/// @param factor  ticks per slice, at least 1
/// @return shape and type of `signal`
/// @throws Error(Internal) if shapes or types do not fit
/// One operator call: spng::apply_regions_linear.
at::Tensor apply_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);

/// Subtract a constant baseline, for collection planes, where a line through the ends of an ROI would lose
/// charge. Inside the ROIs
///     y_k = x_k - mean of the channel's ticks outside all ROIs,
/// 0 outside. A channel that is completely inside keeps its values.
/// Arguments, result and errors as for apply_regions_linear. One operator call: spng::apply_regions_restored.
at::Tensor apply_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);

} // namespace spng
