// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/negative_pulses.h"

#include "tests/core/nothing_waits.h"
#include "tests/support/components.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace spng::test {
namespace {

constexpr std::int64_t boards = 3, members = 20, ticks = 3000;

const NegativePulsesConfig rule{};

/// Noise of 12 counts, 2 of them shared by a board: (board, member, tick).
at::Tensor noise(std::int64_t seed) {
    at::manual_seed(seed);
    return at::randn({boards, members, ticks}, at::kDouble) * 12 +
           at::randn({boards, 1, ticks}, at::kDouble) * 2 + 9000;
}

at::Tensor pulses_in(const at::Tensor& waveforms, const at::Tensor& good) {
    const testing::NothingWaits watched;
    return negative_pulses(waveforms, good, at::arange(boards * members, at::kLong).view({boards, members}),
                           rule);
}

at::Tensor pulses_in(const at::Tensor& waveforms) {
    return pulses_in(waveforms, at::ones({boards, members}, at::kBool));
}

/// Which ranges are not empty: (board, member, range) bool.
at::Tensor found(const at::Tensor& ranges) {
    return ranges.select(-1, 0) < ranges.select(-1, 1);
}

/// A Gaussian wave of this height and sigma [ticks].
at::Tensor wave(double centre, double sigma, double height) {
    return at::exp((at::arange(ticks, at::kDouble) - centre).square() / (-2 * sigma * sigma)) * height;
}

TEST(NegativePulses, PulsesOfABoardAreFound) {
    auto waveforms = noise(1);
    // Different heights on the channels; of one channel, and of the other boards, nothing.
    waveforms[1] += wave(700, 35, -1) * (at::arange(members, at::kDouble) * 4 + 60).unsqueeze(1);
    waveforms[1] += wave(2000, 45, -100);
    waveforms[1][4] = noise(2)[1][4];
    for (const auto type : {at::kDouble, at::kShort}) {
        const auto seen = pulses_in(waveforms.round().to(type));
        EXPECT_FALSE(found(seen)[0].any().item<bool>() || found(seen)[2].any().item<bool>());
        for (const std::int64_t channel : {0, 4, 19}) {
            const auto own = seen[1][channel];
            // The level falls below its limit, about 10 of 70 or 100 counts, 2 sigma from the centre; 20 ticks more.
            EXPECT_NEAR(own[0][0].item<double>(), 700 - 95, 20);
            EXPECT_NEAR(own[0][1].item<double>(), 700 + 95, 20);
            EXPECT_NEAR(own[1][0].item<double>(), 2000 - 115, 20);
            EXPECT_NEAR(own[1][1].item<double>(), 2000 + 115, 20);
            EXPECT_FALSE(found(seen)[1][channel][2].item<bool>());
        }
    }
}

TEST(NegativePulses, NoiseAndSignalsAreNotPulses) {
    auto waveforms = noise(3);
    // An isochronous track on an induction plane: a positive and a negative lobe on all channels.
    waveforms[0] += wave(1000, 8, 400) + wave(1025, 8, -400);
    // A track that reaches a channel each 5 ticks.
    for (std::int64_t channel = 0; channel < members; ++channel) {
        waveforms[1][channel] += wave(1000. + 5. * static_cast<double>(channel), 10, 300) +
                                 wave(1030. + 5. * static_cast<double>(channel), 10, -300);
    }
    // A track along the drift on a third of the channels, and positive pulses of all.
    waveforms[2].slice(0, 0, 7) += wave(800, 100, -200);
    waveforms[2] += wave(2000, 100, 300);
    EXPECT_FALSE(found(pulses_in(waveforms)).any().item<bool>());
}

TEST(NegativePulses, OnlyGoodChannelsCount) {
    auto waveforms = noise(4);
    waveforms[1].slice(0, 0, 14) += wave(700, 40, -100);
    auto good = at::ones({boards, members}, at::kBool);
    EXPECT_FALSE(found(pulses_in(waveforms, good)).any().item<bool>()) << "not the whole board";
    good[1].slice(0, 14) = false;
    const auto seen = pulses_in(waveforms, good);
    EXPECT_TRUE(found(seen)[1][5].any().item<bool>());
    EXPECT_FALSE(found(seen)[1][15].any().item<bool>()) << "bad channels get no range";
    // With seven good channels six must be below the limit, with six five of them would be enough.
    auto few = good.clone();
    few[1].slice(0, 7) = false;
    EXPECT_TRUE(found(pulses_in(waveforms, few)).any().item<bool>());
    auto half = waveforms.clone();
    half[1].slice(0, 4, 7) = noise(6)[1].slice(0, 4, 7);
    EXPECT_FALSE(found(pulses_in(half, few)).any().item<bool>()) << "4 of 7 good channels";
    good[1].slice(0, 6) = false;
    EXPECT_FALSE(found(pulses_in(waveforms, good)).any().item<bool>()) << "too few channels";
    good.fill_(false);
    EXPECT_FALSE(found(pulses_in(waveforms, good)).any().item<bool>());
}

TEST(NegativePulses, WrongArgumentsAreRejected) {
    const auto waveforms = noise(5);
    const auto rows = at::arange(boards * members, at::kLong).view({boards, members});
    EXPECT_FALSE(
        negative_pulses(waveforms.slice(2, 0, 50), at::ones({boards, members}, at::kBool), rows, rule)
            .any()
            .item<bool>())
        << "shorter than a pulse";
    EXPECT_THROW(negative_pulses(waveforms, at::ones({2}, at::kBool), rows, rule), Error);
    EXPECT_THROW(negative_pulses(waveforms, at::ones({boards, members}, at::kBool), rows.to(at::kInt), rule),
                 Error);
    Components components;
    EXPECT_EQ(
        error_of([&] { components.add("SPNGNegativePulses:test", {{"group", "induction"}}); }).text().where,
        "SPNGNegativePulses:test");
}

} // namespace
} // namespace spng::test
