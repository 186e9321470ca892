// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/noise_model.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/view_as_complex.h>

#include <cmath>
#include <numbers>

namespace spng {

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
    double power = 0; // sum of the squares over positive and negative frequencies
    for (std::int64_t bin = 0; bin <= ticks / 2; ++bin) {
        const double ratio = static_cast<double>(bin) / (static_cast<double>(ticks) * tick * corner);
        to[bin] = bin == 0 ? 0 : 1 / std::hypot(1, ratio);
        power += 2 * to[bin] * to[bin];
    }
    // Parseval's theorem; the mean square of a Rayleigh variable is 4 / pi times the square of its mean.
    return amplitude.mul_(rms * static_cast<double>(ticks) / std::sqrt(power * 4 * std::numbers::inv_pi));
}

} // namespace spng
