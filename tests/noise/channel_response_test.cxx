// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/channel_response.h"

#include "spng/core/error.h"
#include "tests/core/nothing_waits.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace spng {
namespace {

constexpr double period = 500; // ns
constexpr std::int64_t ticks = 1000;
const Electronics nominal{.gain = 14, .shaping = 2200, .postgain = 1.2};
const Electronics fast{.gain = 4.7, .shaping = 1000, .postgain = 1.2};

/// A current pulse of Gaussian shape behind electronics, sampled each tick, by a sum in steps of 10 ns.
/// @param centre, sigma  [ns]
at::Tensor pulse(const Electronics& electronics, double centre, double sigma) {
    at::Tensor row = at::empty({ticks}, at::kDouble);
    auto* value = row.mutable_data_ptr<double>();
    constexpr double step = 10;
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        double sum = 0;
        for (double time = step / 2; time < 1e4; time += step) {
            const double current = (static_cast<double>(tick) * period - time - centre) / sigma;
            sum += electronics_response(electronics, time) * std::exp(-0.5 * current * current);
        }
        value[tick] = sum;
    }
    return row;
}

at::Tensor corrected(const at::Tensor& rows, const Electronics& own, const Electronics& target = nominal) {
    const testing::NothingWaits watched;
    const auto type = rows.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    return correct_response(rows, response_kernel(target, own, period).to(type).unsqueeze(0),
                            at::zeros({rows.size(0)}, at::kLong));
}

double largest(const at::Tensor& values) {
    return values.abs().max().item<double>();
}

TEST(ChannelResponse, PulsesBecomeThoseOfTheNominalElectronics) {
    for (const double sigma : {600., 3000.}) { // diffusion of a point near the wires, and a slanted track
        const auto seen = corrected(pulse(fast, 2e5, sigma).view({1, ticks}), fast)[0];
        const auto expected = pulse(nominal, 2e5, sigma);
        EXPECT_LT(largest(seen - expected), 2e-3 * largest(expected)) << sigma;
        EXPECT_NEAR(seen.sum().item<double>() / expected.sum().item<double>(), 1, 1e-4) << "charge";
    }
    EXPECT_LT(pulse(fast, 2e5, 600).sum().item<double>(), 0.2 * pulse(nominal, 2e5, 600).sum().item<double>())
        << "there is something to correct";
}

TEST(ChannelResponse, BaselinesAndEdgesStay) {
    at::manual_seed(1);
    const auto flat = at::zeros({2, ticks}, at::kDouble) + 2047;
    EXPECT_LT(largest(corrected(flat, fast) - flat), 1e-9);
    // A pulse at the end does not come back at the begin.
    auto row = pulse(fast, 4.97e5, 600).view({1, ticks}) + 2047;
    const auto seen = corrected(row, fast);
    EXPECT_LT(largest(seen[0].slice(0, 0, 500) - 2047), 1e-3 * largest(seen - 2047));
}

TEST(ChannelResponse, NoiseOfAFastChannelDoesNotGrow) {
    at::manual_seed(2);
    const auto white = at::randn({20, ticks}, at::kDouble);
    const double dc = response_kernel(nominal, fast, period).sum().item<double>();
    EXPECT_NEAR(dc, 14 * 2.2 / 4.7, 0.1) << "areas: gain times shaping";
    EXPECT_LT(corrected(white, fast).std().item<double>(), dc);
    // In the other direction the gain at high frequencies is limited.
    const auto kernel = response_kernel(fast, nominal, period);
    EXPECT_LT(corrected(white, nominal, fast).std().item<double>(), 4.01 * kernel.sum().item<double>());
}

TEST(ChannelResponse, RowsHaveTheirKernels) {
    at::manual_seed(3);
    const auto rows = (at::randn({5, ticks}) * 10 + 900).round();
    const Electronics half{.gain = 7, .shaping = 2200, .postgain = 1.2};
    const auto kernels =
        at::stack({response_kernel(nominal, fast, period), response_kernel(nominal, half, period)})
            .to(at::kFloat);
    const auto seen = correct_response(rows.to(at::kShort), kernels, at::tensor({0, 1, 1, 0, 1}, at::kLong));
    EXPECT_EQ(seen.scalar_type(), at::kFloat);
    const auto level = std::get<0>(rows[1].median(0, true));
    EXPECT_LT(largest(seen[1] - level - (rows[1] - level) * 2), 1e-2) << "twice the gain";
    EXPECT_LT(largest(seen[3] - corrected(rows[3].view({1, ticks}), fast)[0]), 1e-3);
    EXPECT_THROW(correct_response(rows.to(at::kInt), kernels, at::zeros({5}, at::kLong)), Error);
    EXPECT_THROW(correct_response(rows, kernels.to(at::kDouble), at::zeros({5}, at::kLong)), Error);
    EXPECT_THROW(correct_response(rows, kernels, at::zeros({4}, at::kLong)), Error);
}

} // namespace
} // namespace spng
