// SPDX-License-Identifier: Apache-2.0
#pragma once
// Second step of SPNGDecon: from the spectrum of the waveforms to that of the charge
// (docs/physics-notes.md#deconvolution).

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Return the deconvolution kernel H(k, f) = F(k) / R(k, f), and 0 where R is exactly 0.
/// @param response     (channel, frequency) complex128: spectrum of the response [ADC per electron], with the
///                     half spectrum along time
/// @param wire_filter  (channel) float64: real filter along channels
/// @return (channel, frequency) complex128
at::Tensor deconvolution_kernel(const at::Tensor& response, const at::Tensor& wire_filter);

/// Return D(c, f) = IFFT_k[ FFT_c[ S(c, f) ] H(k, f) ], cropped to the channels of the input.
///
/// The time axis stays in the frequency domain, because each time filter multiplies it and transforms back to
/// time once. The response starts when the electron is at the response plane, so the charge in D is earlier
/// than its arrival at the wires. Apply1DSpectrum shifts it (docs/physics-notes.md#time-filters).
/// @param spectrum  (view, channel, frequency) complex [ADC], from waveform_spectrum()
/// @param kernel    (view or 1, padded channel, frequency) complex of the same type [electrons per ADC]; or, if
///                  H(k, f) = H(-k, f), its first padded_channels / 2 + 1 rows
/// @param padded_channels  length of the transform along channels. More than channels make the convolution
///                  along channels linear, equally many make it cyclic.
/// @return (view, channel, frequency) complex [electrons]; empty without channels or views. Frequencies are
///         adjacent; on a device the rows may be at a larger distance.
/// @throws Error(Internal) if the shapes do not fit
/// One operator call: spng::deconvolve.
at::Tensor deconvolve(const at::Tensor& spectrum, const at::Tensor& kernel, std::int64_t padded_channels);

/// The body by ATen's transforms: on the CPU, and on a device for lengths that its kernel cannot do.
at::Tensor deconvolve_composite(const at::Tensor& spectrum, const at::Tensor& kernel,
                                std::int64_t padded_channels);

namespace kernels { // the body on CUDA: spng/kernels/transforms/deconvolution.cxx
at::Tensor deconvolve(const at::Tensor& spectrum, const at::Tensor& kernel, std::int64_t padded_channels);
} // namespace kernels

} // namespace spng
