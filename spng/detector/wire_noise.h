// SPDX-License-Identifier: Apache-2.0
#pragma once
// Expected noise of the channels of a plane, from measured spectra and the lengths of their wires.

#include "spng/detector/noise/noise_spectra.h"
#include "spng/detector/wires.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <vector>

namespace spng {

struct NoiseSampling {
    double adc_per_voltage = 0; ///< [1/MV]
    double tick = 0;            ///< [ns]
    std::int64_t ticks = 0;     ///< of the waveforms whose RMS is expected
    double gain = 0;            ///< of the electronics [MV / electron charge]; 0: that of each spectrum
};

/// Return the expected RMS of channels [ADC] by channel id. Lengths are rounded to 50 mm, which changes the RMS by
/// less than 1 %. The noise that passes the electronics is proportional to their gain; `constant` does not change.
/// @param channels  of this plane of the anode
/// @throws Error(Configuration) if there is no spectrum of the plane
std::map<int, double> expected_noise(const std::vector<int>& channels, const WireAnode& anode, int plane,
                                     const std::vector<NoiseSpectrum>& spectra,
                                     const NoiseSampling& sampling);

/// Return the expected RMS of channels after linear filters along ticks, by channel id:
///     sqrt( sum_k w_k (4 / pi) (adc_per_voltage A_k)^2 ),  with the mean amplitudes A_k of mean_amplitude().
/// Lengths are rounded as in expected_noise().
/// @param sampling  ticks: samples N of the transform
/// @param weights   (at most N / 2 + 1) float64: w_k; no noise above the last one
/// @throws Error(Configuration) if there is no spectrum of the plane
std::map<int, double> expected_filtered_noise(const std::vector<int>& channels, const WireAnode& anode,
                                              int plane, const std::vector<NoiseSpectrum>& spectra,
                                              const NoiseSampling& sampling, const at::Tensor& weights);

/// Return whether there is a spectrum of the plane.
bool has_plane(const std::vector<NoiseSpectrum>& spectra, int plane);

} // namespace spng
