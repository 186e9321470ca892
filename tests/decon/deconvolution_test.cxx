// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/deconvolution.h"

#include "spng/core/error.h"
#include "spng/detector/fft_size.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/fft_fft.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/real.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

namespace spng {
namespace {

constexpr std::int64_t channels = 10, ticks = 32;

/// Response K[wire][tick] over three wires and two ticks, with the wire of interest in row 0.
at::Tensor response(std::int64_t rows) {
    at::Tensor kernel = at::zeros({rows, ticks}, at::kDouble);
    kernel[0][0] = 2.0;
    kernel[0][1] = 1.0;
    kernel[1][0] = 0.25;
    kernel[rows - 1][0] = 0.25;
    return kernel;
}

TEST(Deconvolution, ReturnsThePointChargeThatMadeTheWaveforms) {
    // Waveforms of 7 electrons at channel 3, tick 5, computed by hand from the response of each wire.
    at::Tensor waveforms = at::zeros({1, channels, ticks}, at::kDouble);
    waveforms[0][3][5] = 14.0;
    waveforms[0][3][6] = 7.0;
    waveforms[0][2][5] = 1.75;
    waveforms[0][4][5] = 1.75;
    for (const std::int64_t rows : {channels, channels + 2}) { // cyclic, then padded to a linear convolution
        const at::Tensor spectrum = at::fft_fft(at::fft_rfft(response(rows)), std::nullopt, 0);
        const at::Tensor kernel = deconvolution_kernel(spectrum, at::ones({rows}, at::kDouble)).unsqueeze(0);
        const at::Tensor charge =
            at::fft_irfft(deconvolve(at::fft_rfft(waveforms), kernel, kernel.size(1)), ticks);
        ASSERT_EQ(charge.sizes(), (at::IntArrayRef{1, channels, ticks}));
        at::Tensor expected = at::zeros_like(charge);
        expected[0][3][5] = 7.0;
        EXPECT_LT((charge - expected).abs().max().item<double>(), 1e-12) << rows << " rows";
    }
}

TEST(Deconvolution, ChargeAtTheEdgeStaysThereWhenPaddedAndWrapsWhenCyclic) {
    // Charge on the last channel induces on the first one only where the plane is wrapped.
    at::Tensor waveforms = at::zeros({1, channels, ticks}, at::kDouble);
    waveforms[0][channels - 1][5] = 2.0;
    waveforms[0][channels - 1][6] = 1.0;
    waveforms[0][channels - 2][5] = 0.25;
    waveforms[0][0][5] = 0.25;
    const at::Tensor spectrum = at::fft_fft(at::fft_rfft(response(channels)), std::nullopt, 0);
    const at::Tensor kernel = deconvolution_kernel(spectrum, at::ones({channels}, at::kDouble)).unsqueeze(0);
    const at::Tensor charge =
        at::fft_irfft(deconvolve(at::fft_rfft(waveforms), kernel, kernel.size(1)), ticks);
    at::Tensor expected = at::zeros_like(charge);
    expected[0][channels - 1][5] = 1.0;
    EXPECT_LT((charge - expected).abs().max().item<double>(), 1e-12);
}

TEST(Deconvolution, ExactZerosOfTheResponseGiveNothing) {
    at::Tensor spectrum = at::ones({2, 3}, at::kComplexDouble);
    spectrum[1][2] = 0;
    const at::Tensor kernel = deconvolution_kernel(spectrum, at::ones({2}, at::kDouble));
    EXPECT_EQ(at::real(kernel)[1][2].item<double>(), 0);
    EXPECT_EQ(at::real(kernel)[0][0].item<double>(), 1);
}

TEST(Deconvolution, ShapesThatDoNotFitAreRejected) {
    const at::Tensor spectrum = at::zeros({1, channels, ticks}, at::kComplexDouble);
    EXPECT_THROW(deconvolve(spectrum, at::ones({1, channels - 1, ticks}, at::kComplexDouble), channels),
                 Error);
    EXPECT_THROW(deconvolve(spectrum, at::ones({1, channels, ticks + 1}, at::kComplexDouble), channels),
                 Error);
    EXPECT_THROW(deconvolve(spectrum, at::ones({1, channels, ticks}, at::kComplexFloat), channels), Error);
}

TEST(FastFftSize, IsTheSmallestSmoothMultiple) {
    EXPECT_EQ(fast_fft_size(6299, 4), 6300);
    EXPECT_EQ(fast_fft_size(500), 500);
    EXPECT_EQ(fast_fft_size(6301), 6400);
    EXPECT_EQ(fast_fft_size(11), 12);
    EXPECT_EQ(fast_fft_size(1), 1);
    EXPECT_EQ(fast_fft_size(5, 4), 8);
}

} // namespace
} // namespace spng
