// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/coherent_noise.h"

#include "spng/core/error.h"
#include "tests/core/nothing_waits.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/round.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace spng {
namespace {

constexpr std::int64_t channels = 40;
constexpr std::int64_t ticks = 4000;

at::Tensor composite(const at::Tensor& waveforms, const at::Tensor& good, const at::Tensor& groups,
                     const CoherentNoiseRule& rule, const at::Tensor& bad_ticks) {
    const testing::NothingWaits watched;
    return remove_coherent_noise_composite(waveforms, good, groups, bad_ticks, rule.threshold,
                                           rule.common_threshold, rule.half_smoothing, rule.padding,
                                           rule.min_fraction, rule.max_noise);
}

at::Tensor all_good(std::int64_t count = channels) {
    return at::ones({count}, at::kBool);
}

at::Tensor one_group(std::int64_t count = channels) {
    return at::arange(count, at::kLong).view({1, count});
}

/// Independent noise of 14 counts RMS.
at::Tensor own_noise(std::int64_t seed) {
    at::manual_seed(seed);
    return at::randn({channels, ticks}, at::kDouble) * 14;
}

/// Wave shared by all channels: two frequencies with 14 counts RMS in total.
at::Tensor shared_noise() {
    const auto tick = at::arange(ticks, at::kDouble);
    return (at::sin(tick * 0.05) + at::cos(tick * 0.31 + 1)) * 14;
}

/// Return the share of `wave` in the rows of `waveforms`; 1: all of it.
double share_of(const at::Tensor& waveforms, const at::Tensor& wave) {
    const auto centred = wave - wave.mean();
    return (waveforms * centred).sum(-1).div(centred.square().sum()).mean().item<double>();
}

TEST(CoherentNoise, WithoutSignalsItIsTheMeanOfTheOtherChannels) {
    const CoherentNoiseRule nothing_is_signal{.threshold = 20, .common_threshold = 20};
    const auto waveforms = own_noise(1) + shared_noise();
    const auto deviation = waveforms - std::get<0>(waveforms.median(-1, true));
    const auto expected = waveforms - (deviation.sum(0, true) - deviation) / (channels - 1);
    const auto seen = remove_coherent_noise(waveforms, all_good(), one_group(), nothing_is_signal);
    EXPECT_LT((seen - expected).abs().max().item<double>(), 1e-10);
}

TEST(CoherentNoise, SharedWaveIsRemovedAndOwnNoiseKept) {
    const auto own = own_noise(2);
    const auto seen =
        remove_coherent_noise((own + shared_noise()).round().to(at::kShort), all_good(), one_group());
    EXPECT_EQ(seen.scalar_type(), at::kFloat);
    EXPECT_LT(std::abs(share_of(seen, shared_noise())), 0.02);
    // The mean of the 39 other channels adds 1/39 of the power.
    EXPECT_NEAR(seen.std().item<double>() / 14, std::sqrt(1 + 1. / 39), 0.02);
}

TEST(CoherentNoise, ShortPulseOfOneChannelKeepsItsHeightAndLeavesNoGhosts) {
    auto waveforms = own_noise(3) + shared_noise();
    waveforms.select(0, 7).slice(0, 1000, 1010) += 500;
    const auto with = remove_coherent_noise(waveforms, all_good(), one_group());
    waveforms.select(0, 7).slice(0, 1000, 1010) -= 500;
    const auto without = remove_coherent_noise(waveforms, all_good(), one_group());
    const auto difference = with - without;
    EXPECT_NEAR(difference.select(0, 7).slice(0, 1000, 1010).mean().item<double>(), 500, 5);
    // The other channels exclude channel 7 from their mean. This changes them by its noise over 39, but not
    // by 500 / 39 = 12.8.
    EXPECT_LT(difference.select(0, 8).slice(0, 1000, 1010).abs().max().item<double>(), 2);
}

TEST(CoherentNoise, TrackAcrossTheWholeGroupAtOnceIsKept) {
    auto waveforms = own_noise(4) + shared_noise();
    const auto pulse = at::zeros({ticks}, at::kDouble);
    pulse.slice(0, 2000, 2012) += 300;
    const auto seen = remove_coherent_noise(waveforms + pulse, all_good(), one_group());
    const auto kept = (seen.slice(1, 2000, 2012).mean() - seen.slice(1, 1900, 1970).mean()).item<double>();
    // The bridged ticks keep up to 20 counts of the shared wave.
    EXPECT_NEAR(kept, 300, 25);
}

TEST(CoherentNoise, GapsAreBridgedByStraightLines) {
    // A shared ramp with a pulse on all channels in the middle: the line across the gap is equal to the ramp.
    const auto ramp = at::arange(ticks, at::kDouble) * 0.01;
    auto waveforms = own_noise(5) * 0.05 + ramp;
    const auto clean = remove_coherent_noise(waveforms, all_good(), one_group());
    waveforms.slice(1, 3000, 3010) += 400;
    const auto seen = remove_coherent_noise(waveforms, all_good(), one_group());
    EXPECT_NEAR((seen - clean).slice(1, 3000, 3010).mean().item<double>(), 400, 0.5);
    EXPECT_LT((seen - clean).slice(1, 2000, 2900).abs().max().item<double>(), 0.1);
}

TEST(CoherentNoise, BadChannelsTakeNoPart) {
    auto waveforms = own_noise(6) + shared_noise();
    auto good = all_good();
    good[3] = false;
    const auto first = remove_coherent_noise(waveforms, good, one_group());
    waveforms.select(0, 3) += at::sin(at::arange(ticks, at::kDouble)) * 1e6;
    const auto second = remove_coherent_noise(waveforms, good, one_group());
    EXPECT_TRUE(second.select(0, 3).equal(waveforms.select(0, 3)));
    EXPECT_TRUE(second.slice(0, 4).equal(first.slice(0, 4)));
    EXPECT_TRUE(
        remove_coherent_noise(waveforms, at::zeros({channels}, at::kBool), one_group()).equal(waveforms));
}

/// Return the RMS of a row.
double rms_of(const at::Tensor& waveforms, std::int64_t row) {
    return waveforms[row].std().item<double>();
}

TEST(CoherentNoise, NoisyChannelsHarmNoOther) {
    auto waveforms = own_noise(11) + shared_noise();
    // Half of the channels less three are noisy, with noise that they share too.
    waveforms.slice(0, 0, 17) += at::randn({ticks}, at::kDouble) * 200 + own_noise(12).slice(0, 0, 17) * 10;
    const auto seen = remove_coherent_noise(waveforms, all_good(), one_group());
    for (std::int64_t row = 17; row < channels; ++row) {
        EXPECT_NEAR(rms_of(seen, row) / 14, std::sqrt(1 + 1. / 22), 0.06) << row;
    }
    EXPECT_LT(std::abs(share_of(seen.slice(0, 17), shared_noise())), 0.02);
}

TEST(CoherentNoise, ChannelsGetTheirShareOfTheNoise) {
    const auto own = own_noise(13) * 0.3;
    auto coupled = at::ones({channels, 1}, at::kDouble);
    coupled[4] = 0;        // dead behind the preamplifier
    coupled[5] = 4.7 / 14; // low gain
    const auto seen = remove_coherent_noise(own + shared_noise() * 2 * coupled, all_good(), one_group());
    for (std::int64_t row = 0; row < channels; ++row) {
        EXPECT_NEAR(rms_of(seen, row) / rms_of(own, row), 1, 0.05) << row;
    }
}

TEST(CoherentNoise, ConstantChannelsStayAsTheyAre) {
    auto waveforms = own_noise(14) + shared_noise() * 2;
    waveforms.slice(0, 0, 30) = 2048;
    const auto seen = remove_coherent_noise(waveforms, all_good(), one_group());
    EXPECT_TRUE(seen.slice(0, 0, 30).equal(waveforms.slice(0, 0, 30)));
    EXPECT_LT(std::abs(share_of(seen.slice(0, 30), shared_noise() * 2)), 0.03);
}

TEST(CoherentNoise, FastPulseAcrossTheGroupIsKeptOnSlowNoiseOfItsSize) {
    // Waves of 28 counts RMS with periods of 70 and 251 ticks, and pulses of 100 counts on all channels at once. Those of
    // opposite signs have the shape of induction. The mean over the phases of the waves leaves the bias of the pulses.
    constexpr int phases = 8;
    const auto tick = at::arange(ticks, at::kDouble);
    const auto own = own_noise(15);
    for (const double sign : {1., -1.}) {
        auto pulses = at::zeros({ticks}, at::kDouble);
        for (std::int64_t start = 200; start < ticks - 100; start += 400) {
            const auto time = at::arange(-8, 9, at::kDouble) / 4;
            const auto shape =
                sign > 0 ? (time.square() * -0.5).exp() : time * (time.square() * -0.5).exp() * 1.65;
            pulses.slice(0, start, start + 17) += shape * 100;
        }
        double kept = 0;
        for (int step = 0; step < phases; ++step) {
            const double phase = 2 * std::numbers::pi * step / phases;
            const auto slow = (at::sin(tick * 0.025 + phase) + at::cos(tick * 0.09 + 1 + phase)) * 28;
            const auto without = remove_coherent_noise(own + slow, all_good(), one_group());
            const auto seen = remove_coherent_noise(own + slow + pulses, all_good(), one_group()) - without;
            kept += (seen * pulses).sum(-1).mean().item<double>() / pulses.square().sum().item<double>();
            EXPECT_LT(std::abs(share_of(without, slow)), 0.02);
        }
        EXPECT_NEAR(kept / phases, 1, 0.05);
    }
}

TEST(CoherentNoise, GroupsAreIndependentWhateverTheOrderOfTheirRows) {
    const auto first = own_noise(7) + shared_noise();
    const auto second = own_noise(8) + shared_noise().flip(0) * 2;
    const auto alone_first = remove_coherent_noise(first, all_good(), one_group());
    const auto alone_second = remove_coherent_noise(second, all_good(), one_group());
    // The rows of the two groups alternate.
    const auto mixed = at::zeros({2 * channels, ticks}, at::kDouble);
    mixed.slice(0, 0, 2 * channels, 2).copy_(first);
    mixed.slice(0, 1, 2 * channels, 2).copy_(second);
    const auto groups = at::arange(2 * channels, at::kLong).view({channels, 2}).t().contiguous();
    const auto seen = remove_coherent_noise(mixed, all_good(2 * channels), groups);
    EXPECT_TRUE(seen.slice(0, 0, 2 * channels, 2).equal(alone_first));
    EXPECT_TRUE(seen.slice(0, 1, 2 * channels, 2).equal(alone_second));
}

TEST(CoherentNoise, CompositeAgrees) {
    auto waveforms = own_noise(9) + shared_noise();
    waveforms.select(0, 11).slice(0, 500, 540) += 200;
    waveforms.slice(0, 5, 30).slice(1, 1500, 1520) += 150;
    waveforms.slice(1, 2500, 2530) += 300;
    waveforms.slice(1, 0, 15) -= 300;
    waveforms.select(0, 25).fill_(7);
    waveforms.select(0, 26) *= 30;
    waveforms.select(0, 27) = own_noise(20).select(0, 27) * 0.1;
    auto good = all_good();
    good[20] = false;
    const auto bad_ticks = at::zeros({channels, 2, 2}, at::kInt);
    bad_ticks[12][0] = at::tensor({0, 2400}, at::kInt);
    bad_ticks[12][1] = at::tensor({3000, 3300}, at::kInt);
    bad_ticks[13][1] = at::tensor({0, static_cast<int>(ticks)}, at::kInt);
    for (const auto type : {at::kFloat, at::kDouble, at::kShort}) {
        const auto input = waveforms.round().to(type);
        const auto seen = remove_coherent_noise(input, good, one_group(), {}, bad_ticks);
        const auto expected = composite(input, good, one_group(), {}, bad_ticks);
        ASSERT_EQ(seen.scalar_type(), expected.scalar_type());
        EXPECT_LT((seen - expected).abs().max().item<double>(), 1e-3);
    }
}

TEST(CoherentNoise, AChannelWithBadTicksKeepsItsPartOfTheWaveInTheOthers) {
    const auto own = own_noise(31);
    auto waveforms = own + shared_noise();
    const auto bad_ticks = at::zeros({channels, 1, 2}, at::kInt);
    for (const std::int64_t end : {1700, 3000}) {
        waveforms[7].slice(0, 0, end) = 0;
        bad_ticks[7][0][1] = end;
        const auto seen = remove_coherent_noise(waveforms, all_good(), one_group(), {}, bad_ticks);
        const auto rest = seen[7].slice(0, end) - own[7].slice(0, end);
        EXPECT_LT(rest.std().item<double>(), 0.3 * shared_noise().std().item<double>()) << end;
        const auto without = remove_coherent_noise(waveforms, all_good(), one_group());
        EXPECT_GT((without[7].slice(0, end) - own[7].slice(0, end)).std().item<double>(),
                  0.35 * shared_noise().std().item<double>())
            << "the test would not see it";
    }
}

TEST(CoherentNoise, ThreadsDoNotMatter) {
    const auto waveforms = (own_noise(10) + shared_noise()).to(at::kFloat).view({4, 10, ticks});
    const auto groups = at::arange(channels, at::kLong).view({4, 10});
    const auto good = all_good().view({4, 10});
    const int before = at::get_num_threads();
    at::set_num_threads(1);
    const auto one = remove_coherent_noise(waveforms, good, groups);
    at::set_num_threads(2);
    const auto two = remove_coherent_noise(waveforms, good, groups);
    at::set_num_threads(before);
    EXPECT_TRUE(one.equal(two));
}

TEST(CoherentNoise, WrongArgumentsAreRejected) {
    const auto waveforms = at::zeros({channels, 10}, at::kDouble);
    EXPECT_THROW(remove_coherent_noise(waveforms.to(at::kInt), all_good(), one_group()), Error);
    EXPECT_THROW(remove_coherent_noise(waveforms, all_good(3), one_group()), Error);
    EXPECT_THROW(remove_coherent_noise(waveforms, all_good(), one_group(3)), Error);
    EXPECT_THROW(
        remove_coherent_noise(waveforms, all_good(), one_group(), {}, at::zeros({3, 1, 2}, at::kInt)), Error);
    EXPECT_EQ(remove_coherent_noise(at::zeros({channels, 0}), all_good(), one_group()).numel(), 0);
}

} // namespace
} // namespace spng
