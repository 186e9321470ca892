#pragma once
// Measured noise of a detector: mean amplitude spectra by plane and wire length.

#include <string>
#include <vector>

namespace spng {

/// Numbers are in the base units of the Wire-Cell toolkit: ns, 1/ns, mm, MV, electron charges.
struct NoiseSpectrum {
    int plane = 0;
    double wire_length = 0;        ///< mm
    double period = 0;             ///< ns between samples of the measurement
    int sample_count = 0;          ///< samples of a measured waveform
    double gain = 0;               ///< MV per electron charge of the electronics of the measurement
    double shaping = 0;            ///< ns, of the same
    double constant = 0;           ///< MV, part that does not pass the electronics ("const")
    std::vector<double> frequency; ///< 1/ns, increasing
    std::vector<double> amplitude; ///< MV, mean amplitude of a discrete Fourier coefficient
};

/// Reads the list of {period, nsamples, gain, shaping, plane, wirelen, const, freqs, amps}, plain or
/// compressed. Throws Error(Configuration) for an unreadable file, missing keys, an empty list, lists of
/// different length, frequencies that do not increase, a negative amplitude, or a period or sample count that
/// is not positive.
std::vector<NoiseSpectrum> load_noise_spectra(const std::string& path);

} // namespace spng
