// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/harmonic_lines.h"

#include "spng/core/error.h"
#include "tests/core/nothing_waits.h"
#include "tests/support/components.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/round.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace spng {
namespace {

constexpr std::int64_t channels = 48;
constexpr std::int64_t ticks = 4000;
constexpr double tick_ns = 500;
constexpr double sigma = 10;

at::Tensor all_good() {
    return at::ones({1, channels}, at::kBool);
}

/// White noise on a baseline, (1, channel, tick) [ADC].
at::Tensor noise(std::int64_t seed) {
    at::manual_seed(seed);
    return at::randn({1, channels, ticks}, at::kDouble) * sigma + 900;
}

/// A tone of this many periods in the readout, (tick).
at::Tensor tone(double periods, double amplitude, double phase = 0.4) {
    const auto tick = at::arange(ticks, at::kDouble);
    return at::cos(tick * (2 * std::numbers::pi * periods / ticks) + phase) * amplitude;
}

at::Tensor cleaned(const at::Tensor& waveforms, const at::Tensor& good, const HarmonicLineRule& rule = {}) {
    const testing::NothingWaits watched;
    return remove_harmonic_lines(waveforms, good, tick_ns, rule);
}

/// Return the amplitude of a tone that all rows share.
double shared_amplitude(const at::Tensor& waveforms, double periods) {
    const auto mean = waveforms.reshape({-1, ticks}).mean(0);
    const auto part = [&](double phase) {
        return (mean * tone(periods, 2.0 / ticks, phase)).sum().item<double>();
    };
    return std::hypot(part(0), part(std::numbers::pi / 2));
}

double rms(const at::Tensor& values) {
    return std::sqrt(values.square().mean().item<double>());
}

/// RMS of the error of a removed tone: amplitude and phase of least squares with a Hann window, whose noise is
/// 1.5 times that of a rectangular one.
const double expected_error = sigma * std::sqrt(2 * 1.5 / ticks);

TEST(HarmonicLines, ATonesAmplitudeIsThatOutsideOfBadTicks) {
    const auto clean = noise(21);
    auto waveforms = clean + tone(103, 8);
    waveforms[0][2].slice(0, 500, 2100) = 900;
    const auto bad_ticks = at::zeros({1, channels, 1, 2}, at::kInt);
    bad_ticks[0][2][0][0] = 500;
    bad_ticks[0][2][0][1] = 2100;
    const auto seen = remove_harmonic_lines(waveforms, all_good(), tick_ns, {}, bad_ticks);
    const auto left = (seen - clean)[0][2].slice(0, 2100);
    EXPECT_LT(rms(left), 0.25 * 8 / std::numbers::sqrt2);
}

TEST(HarmonicLines, TonesOfAllChannelsAreRemovedAtAnyFrequency) {
    const auto clean = noise(1);
    for (const double periods : {40.0, 40.5, 103.37, 1500.8}) {
        const auto left = cleaned(clean + tone(periods, 4), all_good()) - clean;
        EXPECT_LT(shared_amplitude(left, periods), 0.03 * 4) << periods;
        EXPECT_NEAR(rms(left) / expected_error, 1, 0.3) << periods;
    }
}

TEST(HarmonicLines, HarmonicsWithOtherPhasesAndAmplitudesInEachChannelAreRemoved) {
    const auto clean = noise(2);
    auto waveforms = clean.clone();
    for (std::int64_t channel = 0; channel < channels; ++channel) {
        for (int order = 1; order <= 5; ++order) {
            waveforms.select(1, channel) +=
                tone(103.37 * order, 2 + 0.1 * static_cast<double>(channel), static_cast<double>(channel));
        }
    }
    const auto left = cleaned(waveforms, all_good()) - clean;
    EXPECT_NEAR(rms(left) / (std::sqrt(5) * expected_error), 1, 0.3);
}

TEST(HarmonicLines, ToneOfOneChannelIsRemovedThereAlone) {
    const auto clean = noise(3);
    auto waveforms = clean.clone();
    waveforms[0][7] += tone(210.2, 8);
    waveforms[0][30] += tone(77.7, 6) + tone(512.4, 20);
    const auto left = cleaned(waveforms, all_good()) - clean;
    EXPECT_NEAR(rms(left[0][7]), expected_error, 1.5 * expected_error);
    EXPECT_NEAR(rms(left[0][30]), std::sqrt(2) * expected_error, 2 * expected_error);
    EXPECT_EQ((left.abs().amax(-1) > 0).sum().item<std::int64_t>(), 2);
}

TEST(HarmonicLines, NoiseAndTracksAreKeptExactly) {
    auto waveforms = noise(4);
    waveforms[0][5].slice(0, 600, 3400) += 300; // along the drift
    at::manual_seed(5);
    waveforms[0][6].slice(0, 600, 3400) += at::randn({2800}, at::kDouble) * 60 + 300;
    for (std::int64_t pulse = 0; pulse < 30; ++pulse) {
        const std::int64_t start = 120 * pulse + 7 * (pulse * pulse % 11);
        waveforms[0][20].slice(0, start, start + 9) += 250;
        waveforms[0][20].slice(0, start + 9, start + 18) -= 250;
    }
    waveforms.slice(1, 35, 48).slice(2, 2000, 2010) += 400; // across the wires
    EXPECT_TRUE(cleaned(waveforms, all_good()).equal(waveforms));
    const auto counts = waveforms.round().to(at::kShort);
    EXPECT_TRUE(cleaned(counts, all_good()).equal(counts.to(at::kFloat)));
}

TEST(HarmonicLines, TracksDoNotHideATone) {
    auto clean = noise(6);
    clean.slice(1, 0, 40).slice(2, 1000, 1012) += 2000;
    clean[0][5].slice(0, 600, 2400) += 900;
    const auto left = cleaned(clean + tone(61.3, 4), all_good()) - clean;
    EXPECT_LT(shared_amplitude(left, 61.3), 0.05 * 4);
    EXPECT_LT(rms(left[0][5]), 5 * expected_error); // from the half of the readout without the track
}

TEST(HarmonicLines, BadChannelsTakeNoPart) {
    auto waveforms = noise(7);
    auto good = all_good();
    good[0][3] = false;
    waveforms[0][3] += tone(150, 1e4);
    EXPECT_TRUE(cleaned(waveforms, good).equal(waveforms));
    good.zero_();
    EXPECT_TRUE(cleaned(waveforms + tone(90, 20), good).equal(waveforms + tone(90, 20)));
}

TEST(HarmonicLines, ViewsAreIndependent) {
    const auto first = noise(8), second = noise(9) + tone(250.1, 5);
    const auto seen = cleaned(at::stack({first[0], second[0]}), at::ones({2, channels}, at::kBool));
    EXPECT_TRUE(seen[0].equal(first[0]));
    EXPECT_TRUE(seen[1].equal(cleaned(second, all_good())[0]));
}

TEST(HarmonicLines, SlowToneIsProtected) {
    const auto waveforms = noise(10) + tone(15, 20); // 7.5 kHz
    EXPECT_TRUE(cleaned(waveforms, all_good()).equal(waveforms));
    // Noise on the crests of a tone of two sigma is cut as signal, so the amplitude is 5 % low.
    EXPECT_LT(shared_amplitude(cleaned(waveforms, all_good(), {.min_frequency = 5e-6}), 15), 0.07 * 20);
}

TEST(HarmonicLines, BandsBecomeZero) {
    const auto waveforms = noise(11);
    const HarmonicLineRule rule{.bands = {{49.9e-6, 52.1e-6}}}; // 50 to 52 kHz: periods 100 to 104
    const auto before = at::fft_rfft(waveforms), after = at::fft_rfft(cleaned(waveforms, all_good(), rule));
    EXPECT_LT(after.slice(2, 100, 105).abs().max().item<double>(), 1e-6);
    EXPECT_LT((after - before).slice(2, 0, 100).abs().max().item<double>(), 1e-6);
    EXPECT_LT((after - before).slice(2, 105).abs().max().item<double>(), 1e-6);
}

TEST(HarmonicLines, ShortReadoutIsKept) {
    const auto waveforms = (noise(12) + tone(800, 50)).slice(2, 0, 100);
    EXPECT_TRUE(cleaned(waveforms, all_good()).equal(waveforms));
}

TEST(HarmonicLines, RejectsOtherShapesAndSettings) {
    EXPECT_THROW(cleaned(noise(13)[0], all_good()), Error);
    EXPECT_THROW(cleaned(noise(13), at::ones({1, 3}, at::kBool)), Error);
    test::Components components;
    const nlohmann::json reversed{{"bands", {{{"low", 2e-6}, {"high", 1e-6}}}}};
    const Error error = test::error_of([&] { components.add("SPNGHarmonicLineFilter:test", reversed); });
    EXPECT_EQ(error.text().where, "SPNGHarmonicLineFilter:test, key bands");
}

} // namespace
} // namespace spng
