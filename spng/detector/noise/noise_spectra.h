// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measured noise of a detector: mean amplitude spectra by plane and wire length.

#include <string>
#include <vector>

namespace spng {

/// Values are in the base units of the Wire-Cell Toolkit: ns, 1/ns, mm, MV, electron charges.
struct NoiseSpectrum {
    int plane = 0;
    double wire_length = 0;        ///< [mm]
    double period = 0;             ///< sampling period of the measurement [ns]
    int sample_count = 0;          ///< samples of a measured waveform
    double gain = 0;               ///< of the measurement's electronics [MV / electron charge]
    double shaping = 0;            ///< of the measurement's electronics [ns]
    double constant = 0;           ///< noise that does not pass the electronics, "const" [MV]
    std::vector<double> frequency; ///< increasing [1/ns]
    std::vector<double> amplitude; ///< mean amplitude of a discrete Fourier coefficient [MV]
};

/// Read a list of {period, nsamples, gain, shaping, plane, wirelen, const, freqs, amps}, plain or compressed.
/// @throws Error(Configuration) for an unreadable file, a missing key, an empty list, lists of different
/// lengths, frequencies that do not increase, a negative amplitude, or a period or sample count that is not
/// positive
std::vector<NoiseSpectrum> load_noise_spectra(const std::string& path);

} // namespace spng
