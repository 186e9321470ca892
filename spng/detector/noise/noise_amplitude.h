// SPDX-License-Identifier: Apache-2.0
#pragma once
// Predict the noise of a wire from measured spectra.

#include "spng/detector/noise/noise_spectra.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// Return the mean amplitudes of the coefficients of an unnormalised real transform of `ticks` samples of
/// `tick` [ns], for a wire of this plane and length.
///
/// - Spectra of equal wire length are averaged. Amplitudes are interpolated linearly between two lengths;
///   outside of them the nearest length is used. The noise of a channel is A(f) = hypot(amplitude(f),
///   constant).
/// - Conversion from the measurement's period p0 and count of samples n0 to p and n: a waveform in volts
///   keeps its power per frequency, S(f) = p |X|^2 / n, so A(f) is multiplied by sqrt((n p0) / (n0 p)), which
///   is 1.012 from 512 to 500 ns at 6000 samples. The RMS of the waveform does not change. Above the
///   measurement's Nyquist frequency the last amplitude of the file is used.
/// @return (ticks / 2 + 1) float64 [MV]
/// @throws Error(Configuration) if there is no spectrum of the plane
at::Tensor mean_amplitude(const std::vector<NoiseSpectrum>& spectra, int plane, double wire_length,
                          std::int64_t ticks, double tick);

/// Return the RMS of random waveforms with these mean amplitudes, in the unit of the amplitudes. Uses
/// Parseval's theorem without the zero frequency; the amplitudes have a Rayleigh distribution, whose mean
/// square is 4 / pi times the square of its mean.
/// @param amplitude  (ticks / 2 + 1) float64, from mean_amplitude()
double rms_of_amplitude(const at::Tensor& amplitude, std::int64_t ticks);

} // namespace spng
