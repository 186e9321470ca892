// SPDX-License-Identifier: Apache-2.0
#pragma once
// Part of waveform_spectrum.h: subtract the baseline and pad for a linear convolution
// (docs/physics-notes.md#deconvolution).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace spng {

/// Return y(c, t) = x(c, t) - median_t x(c, t) for t < tick, and 0 for tick <= t < padded_ticks. The median
/// is the lower one, sample floor((tick - 1) / 2) of the sorted row, as in torch::median. One pass over
/// memory on the CPU.
/// @param waveforms     (..., channel, tick) int16, float32 or float64; finite where good
/// @param padded_ticks  length of the result, at least tick
/// @param type          type of the result, at::kFloat or at::kDouble. The difference is computed in this
///                      type, or in float64 and then rounded if `waveforms` are float64.
/// @param good          (..., channel) bool on the device of `waveforms`: all other rows become zero,
///                      whatever they hold (dead channels, NaN, Inf). Default: all rows are good.
/// @return (..., channel, padded_ticks); zeros if there are no ticks
/// @throws Error(Internal) for other shapes or types
at::Tensor subtract_baseline_and_pad(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                     at::ScalarType type,
                                     const std::optional<at::Tensor>& good = std::nullopt);

/// The same by ATen's operations, which the function above uses on devices. A few rows at a time.
at::Tensor subtract_baseline_and_pad_composite(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                               at::ScalarType type,
                                               const std::optional<at::Tensor>& good = std::nullopt);

} // namespace spng
