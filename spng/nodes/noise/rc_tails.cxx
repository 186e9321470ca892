// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/rc_tails.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"
#include "spng/device/context.h"
#include "spng/nodes/noise/tick_ranges.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace spng {
namespace {

constexpr std::int64_t block_ticks = 32;
constexpr int fit_rounds = 12;     // the weights settle earlier
constexpr double min_scale = 1e-4; // ADC; of the residuals, so that exact fits do not divide by 0

const Registration<RCTails> registration{
    {.type = "SPNGRCTails",
     .kind = "noise",
     .text = "removes the tails that the RC coupling of the preamplifiers adds behind pulses",
     .memory = step_memory_rule({.use = MemoryUse::input, .copies = 0, .bytes = composition_bytes})}};

/// Solve the symmetric positive definite equations of each row by elimination; no pivot is needed.
/// @param equations  unknown x (unknown + 1) columns, the last is the right side; each (row, 1)
std::vector<at::Tensor> solved(std::vector<std::vector<at::Tensor>> equations) {
    const std::size_t count = equations.size();
    std::vector<at::Tensor> unknowns(count);
    for (std::size_t pivot = 0; pivot < count; ++pivot) {
        for (std::size_t row = pivot + 1; row < count; ++row) {
            const at::Tensor factor = equations[row][pivot] / equations[pivot][pivot];
            for (std::size_t column = pivot; column <= count; ++column) {
                equations[row][column] = equations[row][column] - factor * equations[pivot][column];
            }
        }
    }
    for (std::size_t row = count; row-- > 0;) {
        at::Tensor rest = equations[row][count];
        for (std::size_t column = row + 1; column < count; ++column) {
            rest = rest - equations[row][column] * unknowns[column];
        }
        unknowns[row] = rest / equations[row][row];
    }
    return unknowns;
}

at::Tensor value_of(const std::vector<at::Tensor>& coefficients, const at::Tensor& time) {
    at::Tensor value = coefficients.back();
    for (std::size_t power = coefficients.size() - 1; power-- > 0;) {
        value = value * time + coefficients[power];
    }
    return value;
}

/// Fit a polynomial with weights 1 / (1 + (residual / scale)^2), scale: 1.5 times the median of |residual|.
/// Blocks with signals get little weight.
/// @param level  (row, block) float64
/// @param time   (block) float64
/// @return coefficients (row, 1) of rising powers
std::vector<at::Tensor> fitted(const at::Tensor& level, const at::Tensor& time, std::size_t degree) {
    std::vector<at::Tensor> powers{at::zeros_like(time) + 1};
    for (std::size_t power = 0; power < 2 * degree; ++power) {
        powers.push_back(powers.back() * time);
    }
    at::Tensor weight = at::zeros_like(level) + 1;
    std::vector<at::Tensor> coefficients;
    for (int round = 0; round < fit_rounds; ++round) {
        std::vector<std::vector<at::Tensor>> equations(degree + 1);
        for (std::size_t row = 0; row <= degree; ++row) {
            for (std::size_t column = 0; column <= degree; ++column) {
                equations[row].push_back((weight * powers[row + column]).sum(-1, /*keepdim=*/true));
            }
            equations[row].push_back((weight * level * powers[row]).sum(-1, /*keepdim=*/true));
        }
        coefficients = solved(std::move(equations));
        const at::Tensor residual = (level - value_of(coefficients, time)).abs();
        const at::Tensor scale = std::get<0>(residual.median(-1, /*keepdim=*/true)) * 1.5 + min_scale;
        weight = 1 / (1 + (residual / scale).square());
    }
    return coefficients;
}

at::Tensor restored(const at::Tensor& samples, double ratio, std::int64_t layers) {
    const std::int64_t ticks = samples.size(-1);
    const at::Tensor mean = samples.mean(-1, /*keepdim=*/true);
    at::Tensor rest = samples - mean;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        rest.add_(at::cumsum(rest, -1), ratio);
    }
    const std::int64_t blocks = std::max<std::int64_t>(1, ticks / block_ticks);
    const std::int64_t length = ticks / blocks;
    const at::Tensor level =
        rest.narrow(-1, 0, blocks * length).reshape({-1, blocks, length}).mean(-1, false, at::kDouble);
    // Times are between 0 and 1, so that the equations are well conditioned.
    const auto time_of = [&](std::int64_t count, double first, double step) {
        return (at::arange(count, level.options()) * step + first) / static_cast<double>(ticks);
    };
    const auto step = static_cast<double>(length);
    const auto degree = static_cast<std::size_t>(std::min(layers, blocks - 1));
    auto trend = fitted(level, time_of(blocks, (step - 1) / 2, step), degree);
    trend[0] = -mean.to(at::kDouble);
    for (auto& coefficient : trend) {
        coefficient = coefficient.to(rest.scalar_type());
    }
    return rest.sub_(value_of(trend, time_of(ticks, 0, 1).to(rest.scalar_type())));
}

} // namespace

at::Tensor remove_rc_tails(const at::Tensor& waveforms, double ratio, std::int64_t layers) {
    require_waveforms("remove_rc_tails", waveforms, {}, 1);
    const double samples =
        ratio > 0 ? std::min(1 / ratio, 1e18) : 0; // in a time constant, as an integer can hold them
    require_argument(ratio > 0 && ratio <= 0.1, "remove_rc_tails", "RC / T",
                     static_cast<std::int64_t>(samples), "at least 10 samples");
    require_argument(layers == 1 || layers == 2, "remove_rc_tails", "layers", layers, "1 or 2");
    const auto type = waveforms.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    auto result = at::empty(waveforms.sizes(), waveforms.options().dtype(type));
    if (waveforms.numel() == 0) {
        return result;
    }
    const at::Tensor rows = as_rows(waveforms);
    const at::Tensor result_rows = as_rows(result);
    // Of each row the samples, the rest and its sums, the trend and a temporary; time in float64.
    const std::int64_t bytes_of_row = waveforms.size(-1) * (5 * result.element_size() + 8);
    const auto work = [&](std::int64_t first, std::int64_t count) {
        result_rows.narrow(0, first, count)
            .copy_(restored(rows.narrow(0, first, count).to(type), ratio, layers));
    };
    for_row_chunks(rows.size(0), bytes_of_row, work,
                   waveforms.is_cpu() ? cached_composition_bytes : composition_bytes);
    return result;
}

NamedTensor RCTails::step(NamedTensor tensor, const EventInfo& /*event*/) {
    NVTX_SCOPED_RANGE("RCTails::remove");
    const double tick = tensor.axes.back().period;
    const double ratio = tick / config().constant;
    if (!(ratio > 0 && ratio <= 0.1)) {
        throw Error(ErrorKind::Input, {.what = "the sampling period does not suit the RC constant",
                                       .seen = std::to_string(tick) + " ns",
                                       .expected = "more than 0 and at most a tenth of " +
                                                   std::to_string(config().constant) + " ns",
                                       .hint = "compare the frame's tick with constant of SPNGRCTails"});
    }
    tensor.data = remove_rc_tails(tensor.data.to(context().device()), ratio, config().layers);
    if (tensor.channels) {
        tensor.data = bridge_bad_ticks(tensor.data, found_bad_ticks(*tensor.channels));
    }
    return tensor;
}

} // namespace spng
