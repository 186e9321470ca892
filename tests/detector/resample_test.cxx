// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/resample.h"

#include "spng/core/error.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/full.h>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace spng;

/// Return n samples over one second of a wave with `cycles` cycles.
at::Tensor wave(std::int64_t n, double cycles) {
    const double step = 2 * std::acos(-1.0) * cycles / static_cast<double>(n);
    return at::cos(at::arange(n, at::kDouble) * step + 0.3) + 2.0;
}

TEST(Resample, RationalLength) {
    EXPECT_EQ(rational_length(1499, 100, 500), 1500);
    EXPECT_EQ(rational_length(1500, 100, 500), 1500);
    EXPECT_EQ(rational_length(1499, 100, 512), 1536);
    EXPECT_EQ(rational_length(6000, 500, 512), 6016);
    EXPECT_EQ(rational_length(7, 500, 100), 7);
    EXPECT_EQ(rational_length(3, 0.5, 2), 4);
    EXPECT_THROW(rational_length(100, 100, 499.999), Error);
    EXPECT_THROW(rational_length(100, 0, 500), Error);
    EXPECT_THROW(rational_length(100, 100, -500), Error);
}

TEST(Resample, BandLimitedWavesAreInterpolated) {
    for (const auto& [from, to] :
         {std::pair<int, int>{1500, 300}, {300, 1500}, {384, 75}, {75, 384}, {301, 43}}) {
        const at::Tensor spectrum = resample_spectrum(at::fft_rfft(wave(from, 15)), from, to);
        EXPECT_TRUE(at::fft_irfft(spectrum, to).allclose(wave(to, 15), 1e-12, 1e-12)) << from << " to " << to;
    }
}

TEST(Resample, FrequenciesAboveTheNewLimitAreRemoved) {
    const at::Tensor spectrum = resample_spectrum(at::fft_rfft(wave(1500, 200)), 1500, 300);
    EXPECT_TRUE(at::fft_irfft(spectrum, 300).allclose(at::full({300}, 2.0, at::kDouble), 1e-12, 1e-12));
}

TEST(Resample, HighestFrequencyIsKeptUpAndDown) {
    const at::Tensor alternating = at::cos(at::arange(8, at::kDouble) * std::acos(-1.0)); // 1 -1 1 -1 ...
    const at::Tensor fine = at::fft_irfft(resample_spectrum(at::fft_rfft(alternating), 8, 16), 16);
    EXPECT_TRUE(fine.slice(0, 0, 16, 2).allclose(alternating, 1e-12, 1e-12))
        << "it passes through the samples";
    EXPECT_TRUE(fine.slice(0, 1, 16, 2).abs().max().item<double>() < 1e-12) << "and is 0 half-way";
}

} // namespace
