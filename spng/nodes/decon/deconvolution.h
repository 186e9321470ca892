// SPDX-License-Identifier: Apache-2.0
#pragma once
// Step of SPNGDecon: from waveforms without baseline to the spectrum of the charge
// (docs/physics-notes.md#deconvolution).

#include <ATen/core/Tensor.h>

namespace spng {

/// Return the deconvolution kernel H(k, f) = F(k) / R(k, f), and 0 where R is exactly 0.
/// @param response     (channel, frequency) complex128: spectrum of the response [ADC per electron], with the
///                     half spectrum along time
/// @param wire_filter  (channel) float64: real filter along channels
/// @return (channel, frequency) complex128
at::Tensor deconvolution_kernel(const at::Tensor& response, const at::Tensor& wire_filter);

/// Return D(c, f) = IFFT_k[ FFT_c[ RFFT_t[ waveforms ] ] H(k, f) ], cropped to the channels of the input.
///
/// The time axis stays in the frequency domain, because each time filter multiplies it and transforms back to
/// time once. The response starts when the electron is at the response plane, so the charge in D is earlier
/// than its arrival at the wires. Apply1DSpectrum shifts it (docs/physics-notes.md#time-filters).
/// @param waveforms  (view, channel, tick) real [ADC], without baseline, zero-padded to the length of the
///                   transform
/// @param kernel     (view or 1, padded channel, tick / 2 + 1) complex [electrons per ADC]. More padded
///                   channels than channels make the convolution along channels linear, equally many make it
///                   cyclic.
/// @return (view, channel, tick / 2 + 1) complex [electrons]; empty without channels or views
/// @throws Error(Internal) if the shapes do not fit
at::Tensor deconvolve(const at::Tensor& waveforms, const at::Tensor& kernel);

} // namespace spng
