// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/noise_model.h"

#include "spng/nodes/sim/random_stream.h"
#include "tests/support/components.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/full.h>

#include <gtest/gtest.h>

#include <cmath>

namespace spng::test {
namespace {

NoiseSpectrum flat(int plane, double length, double amplitude, double constant = 0) {
    NoiseSpectrum spectrum;
    spectrum.plane = plane;
    spectrum.wire_length = length;
    spectrum.period = 512;
    spectrum.sample_count = 6000;
    spectrum.constant = constant;
    spectrum.frequency = {0, 0.5e-3, 1e-3};
    spectrum.amplitude = {amplitude, amplitude, amplitude};
    return spectrum;
}

double middle(const std::vector<NoiseSpectrum>& spectra, double length, std::int64_t ticks = 6000,
              double tick = 512) {
    return mean_amplitude(spectra, 0, length, ticks, tick)[ticks / 4].item<double>();
}

TEST(NoiseModel, lengths_are_interpolated) {
    const std::vector spectra{flat(0, 1000, 2), flat(0, 2000, 6), flat(0, 2000, 8), flat(1, 1500, 100)};
    EXPECT_DOUBLE_EQ(middle(spectra, 500), 2);
    EXPECT_DOUBLE_EQ(middle(spectra, 1000), 2);
    EXPECT_DOUBLE_EQ(middle(spectra, 1500), 4.5) << "half-way to the mean of 6 and 8";
    EXPECT_DOUBLE_EQ(middle(spectra, 2000), 7);
    EXPECT_DOUBLE_EQ(middle(spectra, 9000), 7);
    EXPECT_DOUBLE_EQ(middle({flat(0, 1000, 3, 4)}, 1000), 5) << "constant part in quadrature";
}

TEST(NoiseModel, frequencies_are_interpolated) {
    NoiseSpectrum spectrum = flat(0, 1000, 0);
    spectrum.amplitude = {1, 2, 6};
    const at::Tensor amplitude = mean_amplitude({spectrum}, 0, 1000, 1000, 512);
    for (const std::int64_t bin : {0, 100, 256, 300, 500}) {
        const double f = static_cast<double>(bin) / (1000 * 512.0);
        const double expected = f < 0.5e-3 ? 1 + f / 0.5e-3 : 2 + 4 * (f - 0.5e-3) / 0.5e-3;
        EXPECT_NEAR(amplitude[bin].item<double>(), expected * std::sqrt(1000 / 6000.0), 1e-12) << bin;
    }
}

/// The power per frequency of a waveform does not depend on its sampling.
TEST(NoiseModel, sampling_period) {
    EXPECT_NEAR(middle({flat(0, 1000, 2)}, 1000, 6000, 500), 2 * std::sqrt(512 / 500.0), 1e-12);
    EXPECT_NEAR(middle({flat(0, 1000, 2)}, 1000, 3000, 512), 2 * std::sqrt(0.5), 1e-12);
}

TEST(NoiseModel, plane_without_spectrum) {
    const Error error = error_of([] { mean_amplitude({flat(0, 1000, 1)}, 2, 1000, 100, 500); });
    EXPECT_EQ(error.text().seen, "none of plane 2");
}

TEST(NoiseModel, waveforms_have_the_amplitudes) {
    const std::int64_t ticks = 1000;
    const at::Tensor amplitude = at::full({400, ticks / 2 + 1}, 3.0, at::kFloat);
    const at::Tensor waveforms = random_waveforms(amplitude, ticks, 11);
    const at::Tensor seen = at::fft_rfft(waveforms).narrow(1, 1, ticks / 2 - 1);
    // 400 x 499 amplitudes of relative spread 0.52: 0.0012 statistical error of the mean.
    EXPECT_NEAR(seen.abs().mean().item<double>(), 3, 3 * 0.006);
    // Rayleigh distribution: the mean square over the squared mean is 4 / pi.
    EXPECT_NEAR(seen.abs().square().mean().item<double>() / 9, 4 / M_PI, 0.02);
    EXPECT_LT(waveforms.mean(1).abs().max().item<double>(), 1e-6) << "no mean over time";
    const at::Tensor product = (seen.narrow(0, 0, 200) * seen.narrow(0, 200, 200).conj()).mean();
    EXPECT_LT(at::abs(product).item<double>(), 0.2)
        << "rows are independent: 9 * 4 / pi / sqrt(200 * 499) = 0.036";
}

TEST(NoiseModel, seeds_and_threads) {
    const at::Tensor amplitude = at::full({64, 501}, 1.0, at::kFloat);
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const at::Tensor serial = random_waveforms(amplitude, 1000, 5);
    at::set_num_threads(3);
    EXPECT_TRUE(serial.equal(random_waveforms(amplitude, 1000, 5)));
    at::set_num_threads(threads);
    EXPECT_FALSE(serial.equal(random_waveforms(amplitude, 1000, 6)));
    EXPECT_NE(mixed_seed(1, 0, 1), mixed_seed(1, 0, 2));
    EXPECT_NE(mixed_seed(1, 0, 1), mixed_seed(1, 1, 1));
    EXPECT_NE(mixed_seed(1, 2, 1), mixed_seed(2, 1, 1));
    EXPECT_EQ(mixed_seed(3, 4, 5), mixed_seed(3, 4, 5));
}

TEST(NoiseModel, low_frequencies) {
    const double corner = 3e-5;
    const at::Tensor amplitude = low_frequency_amplitude(4, corner, 6000, 500);
    const at::Tensor waveforms = random_waveforms(amplitude.to(at::kFloat).expand({200, -1}), 6000, 3);
    EXPECT_NEAR(waveforms.square().mean().sqrt().item<double>(), 4, 0.05);
    EXPECT_NEAR(amplitude[90].item<double>() / amplitude[1].item<double>(), std::sqrt(0.5), 1e-3)
        << "90 / 3 ms: the corner";
}

} // namespace
} // namespace spng::test
