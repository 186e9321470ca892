// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random noise with measured spectra.

#include "spng/detector/noise/noise_amplitude.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Draw waveforms. The Fourier coefficients have random phases, and amplitudes with a Rayleigh distribution
/// of mean A: real and imaginary part are independent Gaussians with standard deviation sqrt(2 / pi) A. The
/// mean over time is 0. The result does not depend on the number of threads.
/// @param amplitude  (row, ticks / 2 + 1) float32, A
/// @return (row, ticks) float32, in the unit of the amplitudes
at::Tensor random_waveforms(const at::Tensor& amplitude, std::int64_t ticks, std::uint64_t seed);

/// Return the mean amplitudes of noise with the given RMS and a power of 1 / (1 + (f / corner)^2) for f > 0.
/// @param corner  [1/ns]
/// @return (ticks / 2 + 1) float64, in the unit of the RMS
at::Tensor low_frequency_amplitude(double rms, double corner, std::int64_t ticks, double tick);

} // namespace spng
