// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/noise/noise_amplitude.h"

#include "spng/core/error.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

namespace spng {
namespace {

double amplitude_at(const NoiseSpectrum& spectrum, double frequency) {
    const auto& known = spectrum.frequency;
    const auto above = std::lower_bound(known.begin(), known.end(), frequency);
    if (above == known.begin()) {
        return spectrum.amplitude.front();
    }
    if (above == known.end()) {
        return spectrum.amplitude.back();
    }
    const auto index = static_cast<std::size_t>(above - known.begin());
    const double part = (frequency - known[index - 1]) / (known[index] - known[index - 1]);
    return std::lerp(spectrum.amplitude[index - 1], spectrum.amplitude[index], part);
}

/// Spectra of one wire length.
using Spectra = std::vector<const NoiseSpectrum*>;

double mean_at(const Spectra& spectra, double frequency, double ticks, double tick) {
    double sum = 0;
    for (const NoiseSpectrum* spectrum : spectra) {
        const double samples = ticks * spectrum->period / (spectrum->sample_count * tick);
        sum += std::hypot(amplitude_at(*spectrum, frequency), spectrum->constant) * std::sqrt(samples);
    }
    return sum / static_cast<double>(spectra.size());
}

} // namespace

at::Tensor mean_amplitude(const std::vector<NoiseSpectrum>& spectra, int plane, double wire_length,
                          std::int64_t ticks, double tick) {
    std::map<double, Spectra> by_length;
    for (const NoiseSpectrum& spectrum : spectra) {
        if (spectrum.plane == plane) {
            by_length[spectrum.wire_length].push_back(&spectrum);
        }
    }
    if (by_length.empty()) {
        throw Error(ErrorKind::Configuration, {.what = "no noise spectrum of a plane",
                                               .seen = "none of plane " + std::to_string(plane),
                                               .expected = "at least one spectrum for each plane"});
    }
    auto above = by_length.lower_bound(wire_length);
    above = above == by_length.end() ? std::prev(above) : above;
    const auto below = above == by_length.begin() || above->first <= wire_length ? above : std::prev(above);
    const double part =
        above == below ? 0
                       : std::clamp((wire_length - below->first) / (above->first - below->first), 0.0, 1.0);
    at::Tensor amplitude = at::empty({ticks / 2 + 1}, at::kDouble);
    auto* to = amplitude.mutable_data_ptr<double>();
    const auto samples = static_cast<double>(ticks);
    for (std::int64_t bin = 0; bin <= ticks / 2; ++bin) {
        const double frequency = static_cast<double>(bin) / (samples * tick);
        to[bin] = std::lerp(mean_at(below->second, frequency, samples, tick),
                            mean_at(above->second, frequency, samples, tick), part);
    }
    return amplitude;
}

double rms_of_amplitude(const at::Tensor& amplitude, std::int64_t ticks) {
    const auto* mean = amplitude.const_data_ptr<double>();
    double power = 0; // of both signs of frequency
    for (std::int64_t bin = 1; bin < amplitude.size(0); ++bin) {
        power += (2 * bin == ticks ? 1 : 2) * mean[bin] * mean[bin];
    }
    return std::sqrt(4 * std::numbers::inv_pi * power) / static_cast<double>(ticks);
}

} // namespace spng
