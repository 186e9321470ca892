// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/image_noise.h"

#include "spng/nodes/decon/deconvolution.h"
#include "spng/nodes/decon/waveform_spectrum.h"
#include "spng/nodes/filter/time_filter.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>

namespace spng {
namespace {

TEST(ImageNoise, WeightsGiveTheNoiseOfAFilteredImage) {
    // White noise of 3 ADC on a plane without edges; filters and response that depend on both frequencies.
    constexpr std::int64_t channels = 64, ticks = 2000;
    constexpr double adc = 3;
    at::manual_seed(21);
    const at::Tensor waveforms = at::randn({1, channels, ticks}, at::kDouble) * adc;
    const at::Tensor along_ticks = at::arange(ticks / 2 + 1, at::kDouble) / ticks;
    const at::Tensor along_wires = at::arange(channels, at::kDouble) * (2 * std::acos(-1.0) / channels);
    const at::Tensor response = at::complex(along_wires.cos().unsqueeze(1) * 0.5 + 1.5,
                                            along_ticks.unsqueeze(0).expand({channels, -1}));
    const at::Tensor kernel = deconvolution_kernel(response, (along_wires.cos() + 1) * 0.5);
    for (const std::int64_t rebin : {1, 4}) {
        const at::Tensor filter = time_filter((along_ticks.square() * -20).exp(), ticks, 17, rebin);
        const at::Tensor image = apply_time_filter(
            deconvolve(waveform_spectrum(waveforms, ticks, at::kDouble), kernel.unsqueeze(0), channels),
            filter.view({1, 1, -1}), ticks / rebin, ticks / rebin);
        const at::Tensor weights = noise_weights(kernel, filter, ticks / rebin);
        ASSERT_EQ(weights.size(0), ticks / rebin / 2 + 1);
        const double expected = std::sqrt(weights.sum().item<double>() * adc * adc * ticks); // E |X_k|^2
        EXPECT_NEAR(image.std().item<double>() / expected, 1, 0.02) << "rebin " << rebin;
    }
}

} // namespace
} // namespace spng
