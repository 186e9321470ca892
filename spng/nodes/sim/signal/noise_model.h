#pragma once
// Random noise with measured spectra.

#include "spng/detector/noise_amplitude.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// Waveforms whose coefficients have random phases and amplitudes with a Rayleigh distribution of these
/// means: real and imaginary part are independent Gaussians of standard deviation sqrt(2 / pi) A. The mean
/// over time is 0. The same seed gives the same waveforms, whatever the number of threads.
/// @param amplitude  float32 (row, ticks / 2 + 1)
/// @return float32 (row, ticks), in the unit of the amplitudes
at::Tensor random_waveforms(const at::Tensor& amplitude, std::int64_t ticks, std::uint64_t seed);

/// Mean amplitudes of noise of that RMS whose power falls as 1 / (1 + (f / corner)^2), f above 0.
/// @param corner  1/ns
/// @return (ticks / 2 + 1) float64, in the unit of the RMS
at::Tensor low_frequency_amplitude(double rms, double corner, std::int64_t ticks, double tick);

} // namespace spng
