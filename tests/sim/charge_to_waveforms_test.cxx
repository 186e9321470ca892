// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/charge_to_waveforms.h"
#include "spng/nodes/sim/signal/overlay.h"

#include "spng/core/error.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/fft_fft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace spng::test {
namespace {

constexpr std::int64_t wires = 3, response_ticks = 6, roll = 4, ticks = 9, padded_ticks = 16;

/// Return the sum over wires and ticks of the charge, which arrives `roll` ticks after the response begins.
at::Tensor direct_sum(const at::Tensor& charge, const at::Tensor& kernel, bool is_cyclic) {
    const std::int64_t channels = charge.size(1);
    at::Tensor result = at::zeros_like(charge);
    const auto q = charge.accessor<double, 3>();
    const auto k = kernel.accessor<double, 2>();
    auto v = result.accessor<double, 3>();
    for (std::int64_t view = 0; view < charge.size(0); ++view) {
        for (std::int64_t source = 0; source < channels; ++source) {
            for (std::int64_t wire = 0; wire < wires; ++wire) {
                const std::int64_t at = source + wire - wires / 2;
                if (!is_cyclic && (at < 0 || at >= channels)) {
                    continue;
                }
                const std::int64_t channel = (at + channels) % channels;
                for (std::int64_t tick = 0; tick < ticks; ++tick) {
                    for (std::int64_t lag = 0; lag < response_ticks; ++lag) {
                        const std::int64_t seen = tick - roll + lag;
                        if (seen >= 0 && seen < ticks) {
                            v[view][channel][seen] += q[view][source][tick] * k[wire][lag];
                        }
                    }
                }
            }
        }
    }
    return result;
}

/// Return the response in the frequency domain as TorchFRERSpectrum::spectrum().
at::Tensor spectrum_of(const at::Tensor& kernel, std::int64_t channels) {
    at::Tensor rows = at::zeros({channels, padded_ticks}, at::kDouble);
    for (std::int64_t wire = 0; wire < wires; ++wire) {
        rows[(wire - wires / 2 + channels) % channels].narrow(0, 0, response_ticks).copy_(kernel[wire]);
    }
    return at::fft_fft(at::fft_rfft(rows), std::nullopt, 0);
}

class WaveformsOfCharge : public testing::TestWithParam<bool> {};

TEST_P(WaveformsOfCharge, IsTheSumOverWiresAndTicks) {
    const bool is_cyclic = GetParam();
    constexpr std::int64_t channels = 7;
    const std::int64_t padded_channels = is_cyclic ? channels : channels + wires - 1;
    const at::Tensor kernel = at::randn({wires, response_ticks}, at::kDouble);
    const at::Tensor charge = at::randn({2, channels, ticks}, at::kDouble);
    const at::Tensor response =
        arrival_response(spectrum_of(kernel, padded_channels), padded_ticks, roll).unsqueeze(0);
    const at::Tensor seen = waveforms_of_charge(charge, response, padded_channels, padded_ticks);
    EXPECT_TRUE(seen.allclose(direct_sum(charge, kernel, is_cyclic), 0, 1e-12));
    EXPECT_TRUE(seen.is_contiguous());
}

INSTANTIATE_TEST_SUITE_P(Channels, WaveformsOfCharge, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Cyclic" : "Linear"; });

TEST(WaveformsOfCharge, RejectsOtherShapes) {
    const at::Tensor response =
        arrival_response(spectrum_of(at::randn({wires, response_ticks}, at::kDouble), 5), padded_ticks, roll)
            .unsqueeze(0);
    EXPECT_THROW(waveforms_of_charge(at::zeros({5, ticks}), response, 5, padded_ticks), Error);
    EXPECT_THROW(waveforms_of_charge(at::zeros({1, 5, padded_ticks + 1}), response, 5, padded_ticks), Error);
    EXPECT_THROW(arrival_response(response[0], padded_ticks + 4, roll), Error);
}

TEST(Overlay, RoundsAndKeepsSamplesAtTheLimits) {
    const at::Tensor raw = at::tensor({0, 15, 3, 12, 7, 7}, at::kShort).unsqueeze(0);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const at::Tensor signals = at::tensor({5.0, -5.0, -9.0, 9.0, 0.6, nan}, at::kDouble).unsqueeze(0);
    EXPECT_TRUE(overlay(raw, signals, 4).equal(at::tensor({0, 15, 0, 15, 8, 0}, at::kShort).unsqueeze(0)));
}

TEST(Overlay, AddsToTheTicksOfBoth) {
    const at::Tensor raw = at::arange(4, at::kFloat).unsqueeze(0), signals = at::full({1, 3}, 0.5);
    EXPECT_TRUE(overlay(raw, signals, 12).equal(at::tensor({0.5F, 1.5F, 2.5F, 3.0F}).unsqueeze(0)));
    EXPECT_TRUE(overlay(raw.narrow(1, 0, 2), signals, 12).equal(at::tensor({0.5F, 1.5F}).unsqueeze(0)));
    EXPECT_TRUE(raw.equal(at::arange(4, at::kFloat).unsqueeze(0)));
    EXPECT_THROW(overlay(raw, at::zeros({2, 3}), 12), Error);
}

} // namespace
} // namespace spng::test
