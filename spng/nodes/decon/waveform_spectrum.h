// SPDX-License-Identifier: Apache-2.0
#pragma once
// First step of SPNGDecon: from ADC waveforms to their spectrum along ticks
// (docs/physics-notes.md#deconvolution).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace spng {

/// Return S(c, f) = RFFT_t[ x(c, t) - median_t x(c, t), padded with zeros ], the half spectrum along ticks.
/// @param waveforms     (..., channel, tick) int16, float32 or float64; finite where good
/// @param padded_ticks  N, the length of the transform, at least tick and 1
/// @param type          type of the difference and of the parts of the result, at::kFloat or at::kDouble
/// @param good          (..., channel) bool on the device of `waveforms`: all other rows become zero,
///                      whatever they hold. Default: all rows are good.
/// @return (..., channel, N / 2 + 1) complex; on a device the rows may be at a larger distance
/// @throws Error(Internal) for other shapes or types
/// One operator call: spng::waveform_spectrum.
at::Tensor waveform_spectrum(const at::Tensor& waveforms, std::int64_t padded_ticks, at::ScalarType type,
                             const std::optional<at::Tensor>& good = std::nullopt);

/// The body by ATen's transform: on the CPU, and on a device for lengths that its kernel cannot do.
at::Tensor waveform_spectrum_composite(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                       at::ScalarType type, const std::optional<at::Tensor>& good);

namespace kernels { // the body on CUDA: spng/kernels/transforms/waveform_spectrum.cxx
at::Tensor waveform_spectrum(const at::Tensor& waveforms, std::int64_t padded_ticks, at::ScalarType type,
                             const std::optional<at::Tensor>& good);
} // namespace kernels

} // namespace spng
