// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/wire_noise.h"

#include "spng/detector/noise/noise_amplitude.h"

#include <algorithm>
#include <cmath>

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

} // namespace

std::map<int, double> expected_noise(const std::vector<int>& channels, const WireAnode& anode, int plane,
                                     const std::vector<NoiseSpectrum>& spectra,
                                     const NoiseSampling& sampling) {
    const auto lengths = wire_lengths(anode, plane);
    std::map<std::int64_t, double> rms_of_length;
    std::map<int, double> noise;
    for (const int channel : channels) {
        const auto steps = std::llround(lengths.at(channel) / length_step);
        auto& rms = rms_of_length[steps];
        if (rms == 0) {
            rms = sampling.adc_per_voltage *
                  rms_of_amplitude(mean_amplitude(spectra, plane, length_step * static_cast<double>(steps),
                                                  sampling.ticks, sampling.tick),
                                   sampling.ticks);
        }
        noise[channel] = rms;
    }
    return noise;
}

bool has_plane(const std::vector<NoiseSpectrum>& spectra, int plane) {
    return std::any_of(spectra.begin(), spectra.end(),
                       [&](const auto& spectrum) { return spectrum.plane == plane; });
}

} // namespace spng
