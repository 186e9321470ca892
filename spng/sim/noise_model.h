#pragma once
// Random noise with measured spectra.

#include "spng/detector/noise_spectra.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// Mean amplitude of the coefficients of an unnormalised real transform of `ticks` samples of `tick` ns, for
/// a wire of this plane and length. -> (ticks / 2 + 1) float64 [MV].
///
/// - Spectra of equal length are averaged; between two lengths amplitudes are interpolated linearly, beyond
///   them the nearest counts. A channel's noise is A(f) = hypot(amplitude(f), constant).
/// - From the measurement's period p0 and number of samples n0 to ours, p and n: a waveform in volts keeps
/// its
///   power per frequency, S(f) = p |X|^2 / n, so A(f) is taken at the same f and multiplied by
///   sqrt((n p0) / (n0 p)), 1.012 from 512 to 500 ns at 6000 samples. The RMS of the waveform stays. Above
///   the measurement's Nyquist frequency the last amplitude of the file counts.
/// Throws Error(Configuration) when there is no spectrum of the plane.
at::Tensor mean_amplitude(const std::vector<NoiseSpectrum>& spectra, int plane, double wire_length,
                          std::int64_t ticks, double tick);

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

/// A seed for one purpose of one event of a job; different arguments give unrelated seeds.
std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t event, std::uint64_t purpose);

} // namespace spng
