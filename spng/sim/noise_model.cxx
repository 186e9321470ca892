#include "spng/sim/noise_model.h"

#include "spng/core/error.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/view_as_complex.h>

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
                                               .where = {},
                                               .seen = "none of plane " + std::to_string(plane),
                                               .expected = "at least one spectrum for each plane",
                                               .mend = {}});
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

at::Tensor random_waveforms(const at::Tensor& amplitude, std::int64_t ticks, std::uint64_t seed) {
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    at::Tensor parts = at::randn({amplitude.size(0), amplitude.size(1), 2}, generator, at::kFloat);
    parts.mul_((amplitude * std::sqrt(2 * std::numbers::inv_pi)).unsqueeze(-1));
    parts.select(1, 0).zero_();
    return at::fft_irfft(at::view_as_complex(parts), ticks);
}

at::Tensor low_frequency_amplitude(double rms, double corner, std::int64_t ticks, double tick) {
    at::Tensor amplitude = at::empty({ticks / 2 + 1}, at::kDouble);
    auto* to = amplitude.mutable_data_ptr<double>();
    double power = 0; // sum of the squares of both signs of frequency
    for (std::int64_t bin = 0; bin <= ticks / 2; ++bin) {
        const double ratio = static_cast<double>(bin) / (static_cast<double>(ticks) * tick * corner);
        to[bin] = bin == 0 ? 0 : 1 / std::hypot(1, ratio);
        power += 2 * to[bin] * to[bin];
    }
    // The mean of the square of a Rayleigh variable is 4 / pi times the square of its mean; Parseval.
    return amplitude.mul_(rms * static_cast<double>(ticks) / std::sqrt(power * 4 * std::numbers::inv_pi));
}

std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t event, std::uint64_t purpose) {
    std::uint64_t mixed = 0;
    for (const std::uint64_t part : {seed, event, purpose}) {
        // The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
        mixed += part + 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        mixed ^= mixed >> 31;
    }
    return mixed;
}

} // namespace spng
