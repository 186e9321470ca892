// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/input_check/pulse_shape.h"

#include "spng/core/tensor_checks.h"
#include "spng/nodes/input_check/channel_pulses.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/polar.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace spng {
namespace {

constexpr std::array<double, 14> shaping_ratios{0.4, 0.47, 0.56, 0.68, 0.8, 0.87, 0.93,
                                                1.0, 1.07, 1.14, 1.24, 1.4, 1.6,  1.9};
constexpr int smearings = 9;
constexpr double smearing_step = 200; // ns
constexpr int shifts = 8;             // per tick

/// Return the position of the minimum of the parabola through three points, or x[1] if it has none.
double minimum_of_parabola(const std::array<double, 3>& x, const std::array<double, 3>& y) {
    const double left = (y[1] - y[0]) / (x[1] - x[0]), right = (y[2] - y[1]) / (x[2] - x[1]);
    const double curvature = (right - left) / (x[2] - x[0]);
    return curvature > 0 ? std::clamp((x[0] + x[1]) / 2 - left / (2 * curvature), x[0], x[2]) : x[1];
}

} // namespace

PulseShapes::PulseShapes(const at::Tensor& line, double period, const ColdElectronics& electronics,
                         const ResponseKernelConfig& config)
    : m_variants(smearings * shifts) {
    for (const double ratio : shaping_ratios) {
        ColdElectronics other = electronics;
        other.shaping *= ratio;
        const at::Tensor kernel = response_kernel(line, period, other, config)[0];
        const std::int64_t ticks =
            kernel.size(0) + 2 * shape_ticks; // long enough that nothing wraps into the pulse
        const at::Tensor spectrum = at::fft_rfft(kernel, ticks);
        const at::Tensor phase =
            at::arange(spectrum.size(0), at::kDouble) * (2 * std::numbers::pi / static_cast<double>(ticks));
        for (int smearing = 0; smearing < smearings; ++smearing) {
            const double sigma = smearing * smearing_step / config.tick;
            const at::Tensor smeared = spectrum * phase.square().mul(-0.5 * sigma * sigma).exp();
            for (int shift = 0; shift < shifts; ++shift) {
                const at::Tensor delay = at::polar(at::ones_like(phase), phase * (-shift / double{shifts}));
                const at::Tensor pulse = at::fft_irfft(smeared * delay, ticks).contiguous();
                const auto* sample = pulse.const_data_ptr<double>();
                const auto peak =
                    std::max_element(sample, sample + ticks,
                                     [](double a, double b) { return std::abs(a) < std::abs(b); }) -
                    sample;
                const std::int64_t first =
                    std::clamp<std::int64_t>(peak - shape_peak, 0, ticks - shape_ticks);
                double power = 0;
                for (std::int64_t i = first; i < first + shape_ticks; ++i) {
                    power += sample[i] * sample[i];
                }
                for (std::int64_t i = first; i < first + shape_ticks; ++i) {
                    m_templates.push_back(static_cast<float>(sample[i] / std::sqrt(power)));
                }
            }
        }
    }
}

std::optional<double> PulseShapes::shaping_ratio(const std::vector<float>& shape) const {
    require_argument(shape.size() == shape_ticks, "PulseShapes", "length of the pulse",
                     static_cast<std::int64_t>(shape.size()), std::to_string(shape_ticks));
    double power = 0;
    for (const float sample : shape) {
        power += double{sample} * sample;
    }
    std::array<double, shaping_ratios.size()> residual{};
    const float* variant = m_templates.data();
    for (double& rest : residual) {
        float best = 0;
        for (std::int64_t i = 0; i < m_variants; ++i, variant += shape_ticks) {
            float product = 0;
            for (std::int64_t tick = 0; tick < shape_ticks; ++tick) {
                product += variant[tick] * shape[static_cast<std::size_t>(tick)];
            }
            best = std::max(best, product); // inverted pulses do not match
        }
        rest = power - double{best} * best;
    }
    const auto index = std::min_element(residual.begin(), residual.end()) - residual.begin();
    // Each sample has noise 1; in addition, the templates describe real tracks to half a per cent.
    if (residual[static_cast<std::size_t>(index)] > 3 * double{shape_ticks} + 0.005 * power) {
        return std::nullopt;
    }
    const auto middle = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(index, 1, static_cast<std::ptrdiff_t>(shaping_ratios.size()) - 2));
    return minimum_of_parabola(
        {shaping_ratios[middle - 1], shaping_ratios[middle], shaping_ratios[middle + 1]},
        {residual[middle - 1], residual[middle], residual[middle + 1]});
}

} // namespace spng
