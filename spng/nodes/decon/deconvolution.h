#pragma once
// The pure step behind SPNGDecon: from baseline-free waveforms to the spectrum of charge.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Deconvolution kernel H(k, f) = F(k) / R(k, f), and 0 where R is exactly 0 (spng.md 5.5).
/// @param response     (channel, frequency) complex128: spectrum of the response [ADC per electron], half
/// spectrum in time
/// @param wire_filter  (channel) float64: real filter along channels
/// @return (channel, frequency) complex128
at::Tensor deconvolution_kernel(const at::Tensor& response, const at::Tensor& wire_filter);

/// D(c, f) = IFFT_k[ FFT_c[ RFFT_t[ waveforms ] ] H(k, f) ], cropped to the channels of the input.
///
/// The time axis stays in the frequency domain: the filters that follow multiply it and go back to time once
/// each. The response starts when the electron is at the response plane, so charge stands earlier than its
/// arrival at the wires; Apply1DSpectrum moves it (spng.md 5.6).
/// @param waveforms  (view, channel, tick) real [ADC], baseline removed, zero-padded to the length of the
/// transform
/// @param kernel     (view or 1, padded channel, tick / 2 + 1) complex [electrons per ADC]; more padded
/// channels than
///                   channels make the convolution along channels linear, equally many make it cyclic
/// @return (view, channel, tick / 2 + 1) complex [electrons]
/// Throws Error(Internal) for shapes that do not fit. No channel or no view gives an empty result.
at::Tensor deconvolve(const at::Tensor& waveforms, const at::Tensor& kernel);

} // namespace spng
