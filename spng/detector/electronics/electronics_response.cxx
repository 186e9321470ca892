// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/electronics/electronics_response.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace spng {
namespace {

// Times are in units of the shaping time.

double interpolated(const std::vector<double>& times, const std::vector<double>& amplitudes, double time) {
    if (!(time >= times.front() && time <= times.back())) {
        return 0;
    }
    const auto next = std::max(std::lower_bound(times.begin(), times.end(), time), times.begin() + 1);
    const auto index = static_cast<std::size_t>(next - times.begin());
    const double part = (time - times[index - 1]) / (times[index] - times[index - 1]);
    return std::lerp(amplitudes[index - 1], amplitudes[index], part);
}

double cold(double r) {
    const double slow = 4.31054 * std::exp(-2.94809 * r);
    const double middle =
        std::exp(-2.82833 * r) * (-5.24040 * std::cos(1.19361 * r) + 1.524912 * std::sin(1.19361 * r));
    const double fast =
        std::exp(-2.40318 * r) * (0.929848 * std::cos(2.5928 * r) - 0.655368 * std::sin(2.5928 * r));
    return slow + middle + fast;
}

double warm(double r) {
    return (1 - std::exp(-0.405 * r * r)) * std::exp(-0.125 * r * r);
}

} // namespace

Electronics sampled_electronics(std::vector<double> times, std::vector<double> amplitudes, double postgain) {
    const auto peak = std::max_element(amplitudes.begin(), amplitudes.end()) - amplitudes.begin();
    const double shaping = times[static_cast<std::size_t>(peak)];
    for (double& time : times) {
        time /= shaping;
    }
    return {.model = ElectronicsModel::sampled,
            .shaping = shaping,
            .postgain = postgain,
            .times = std::move(times),
            .amplitudes = std::move(amplitudes)};
}

double electronics_response(const Electronics& electronics, double time) {
    const double r = time / electronics.shaping;
    if (electronics.model == ElectronicsModel::sampled) {
        return electronics.postgain * interpolated(electronics.times, electronics.amplitudes, r);
    }
    constexpr double longest = 10000; // ns
    if (!(time > 0 && time < longest)) {
        return 0;
    }
    if (electronics.model == ElectronicsModel::warm) {
        return electronics.gain * electronics.postgain * warm(r);
    }
    return 10.12 * electronics.gain * electronics.postgain * cold(r);
}

at::Tensor sample_electronics_response(const Electronics& electronics, double period, std::int64_t samples) {
    at::Tensor response = at::empty({samples}, at::kDouble);
    double* output = response.mutable_data_ptr<double>();
    for (std::int64_t sample = 0; sample < samples; ++sample) {
        output[sample] = electronics_response(electronics, (static_cast<double>(sample) + 0.5) * period);
    }
    return response;
}

} // namespace spng
