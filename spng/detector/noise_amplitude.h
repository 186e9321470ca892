#pragma once
// Noise of a wire as its measured spectra predict it.

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

/// RMS of random waveforms with these mean amplitudes. The coefficients have a Rayleigh distribution, whose
/// mean square is 4 / pi times the square of its mean; Parseval; the mean over time does not count.
/// @param amplitude  (ticks / 2 + 1) float64, as mean_amplitude() returns it
/// @return in the unit of the amplitudes
double rms_of_amplitude(const at::Tensor& amplitude, std::int64_t ticks);

} // namespace spng
