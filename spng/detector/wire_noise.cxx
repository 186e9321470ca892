// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/wire_noise.h"

#include "spng/detector/noise/noise_amplitude.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace spng {
namespace {

constexpr double length_step = 50; // mm

/// Return the total wire length of each channel of a plane [mm].
std::map<int, double> wire_lengths(const WireAnode& anode, int plane) {
    std::map<int, double> lengths;
    for (const WireFace& face : anode.faces) {
        for (const WirePlane& wires : face.planes) {
            for (const Wire& wire : wires.wires) {
                if (wires.ident == plane) {
                    lengths[wire.channel] += std::hypot(wire.head.y - wire.tail.y, wire.head.z - wire.tail.z);
                }
            }
        }
    }
    return lengths;
}

/// Return the spectra as they are with another gain of the electronics.
std::vector<NoiseSpectrum> with_gain(std::vector<NoiseSpectrum> spectra, double gain) {
    for (NoiseSpectrum& spectrum : spectra) {
        if (gain > 0 && spectrum.gain > 0) {
            for (double& amplitude : spectrum.amplitude) {
                amplitude *= gain / spectrum.gain;
            }
        }
    }
    return spectra;
}

/// Return a value of each channel that depends on its wire length in steps.
std::map<int, double> noise_by_length(const std::vector<int>& channels, const WireAnode& anode, int plane,
                                      const std::function<double(double)>& rms_of_length) {
    const auto lengths = wire_lengths(anode, plane);
    std::map<std::int64_t, double> known;
    std::map<int, double> noise;
    for (const int channel : channels) {
        const auto steps = std::llround(lengths.at(channel) / length_step);
        auto& rms = known[steps];
        if (rms == 0) {
            rms = rms_of_length(length_step * static_cast<double>(steps));
        }
        noise[channel] = rms;
    }
    return noise;
}

} // namespace

std::map<int, double> expected_noise(const std::vector<int>& channels, const WireAnode& anode, int plane,
                                     const std::vector<NoiseSpectrum>& spectra,
                                     const NoiseSampling& sampling) {
    const auto scaled = with_gain(spectra, sampling.gain);
    return noise_by_length(channels, anode, plane, [&](double length) {
        const auto amplitude = mean_amplitude(scaled, plane, length, sampling.ticks, sampling.tick);
        return sampling.adc_per_voltage * rms_of_amplitude(amplitude, sampling.ticks);
    });
}

std::map<int, double> expected_filtered_noise(const std::vector<int>& channels, const WireAnode& anode,
                                              int plane, const std::vector<NoiseSpectrum>& spectra,
                                              const NoiseSampling& sampling, const at::Tensor& weights) {
    const auto scaled = with_gain(spectra, sampling.gain);
    return noise_by_length(channels, anode, plane, [&](double length) {
        const auto amplitude = mean_amplitude(scaled, plane, length, sampling.ticks, sampling.tick);
        const auto* mean = amplitude.const_data_ptr<double>();
        const auto* weight = weights.const_data_ptr<double>();
        double power = 0;
        for (std::int64_t bin = 0; bin < weights.size(0); ++bin) {
            power += weight[bin] * mean[bin] * mean[bin];
        }
        return sampling.adc_per_voltage * std::sqrt(4 * std::numbers::inv_pi * power);
    });
}

bool has_plane(const std::vector<NoiseSpectrum>& spectra, int plane) {
    return std::any_of(spectra.begin(), spectra.end(),
                       [&](const auto& spectrum) { return spectrum.plane == plane; });
}

} // namespace spng
