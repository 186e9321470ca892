// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/filter/time_filter.h"

#include "spng/core/error.h"

#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace spng {
namespace {

constexpr std::int64_t ticks = 120;

at::Tensor filtered(const at::Tensor& waveform, std::int64_t roll, std::int64_t rebin, std::int64_t samples) {
    const at::Tensor filter = time_filter(at::ones({ticks / 2 + 1}, at::kDouble), ticks, roll, rebin);
    return apply_time_filter(at::fft_rfft(waveform), filter.view({1, 1, -1}), ticks / rebin, samples);
}

TEST(TimeFilter, RollMovesAnImpulseLaterAndWrapsCyclically) {
    at::Tensor waveform = at::zeros({1, 2, ticks}, at::kDouble);
    waveform[0][0][10] = 5.0;
    waveform[0][1][ticks - 3] = 7.0;
    const at::Tensor out = filtered(waveform, 13, 1, ticks);
    const auto* value = out.contiguous().const_data_ptr<double>();
    for (std::int64_t t = 0; t < ticks; ++t) {
        EXPECT_NEAR(value[t], t == 23 ? 5.0 : 0.0, 1e-12);
        EXPECT_NEAR(out[0][1][t].item<double>(), t == 10 ? 7.0 : 0.0, 1e-12);
    }
}

TEST(TimeFilter, RebinnedSampleIsTheMeanOverItsTicks) {
    // A slow wave has no power above the coarser Nyquist frequency, so the mean over each four ticks is
    // exact.
    at::Tensor waveform = at::zeros({1, 1, ticks}, at::kDouble);
    const auto wave = [](std::int64_t t) {
        return 3 + std::sin(2 * std::numbers::pi * 2 * static_cast<double>(t) / ticks);
    };
    for (std::int64_t t = 0; t < ticks; ++t) {
        waveform[0][0][t] = wave(t);
    }
    const std::int64_t roll = 8;
    const at::Tensor out = filtered(waveform, roll, 4, 25);
    ASSERT_EQ(out.sizes(), (at::IntArrayRef{1, 1, 25}));
    for (std::int64_t q = 0; q < 25; ++q) {
        double mean = 0;
        for (std::int64_t j = 0; j < 4; ++j) {
            mean += wave((4 * q + j - roll + ticks) % ticks) / 4;
        }
        EXPECT_NEAR(out[0][0][q].item<double>(), mean, 1e-12);
    }
}

TEST(TimeFilter, RebinMustDivideTheLength) {
    EXPECT_THROW(time_filter(at::ones({61}, at::kDouble), ticks, 0, 7), Error);
    EXPECT_THROW(time_filter(at::ones({60}, at::kDouble), ticks, 0, 4), Error);
}

} // namespace
} // namespace spng
