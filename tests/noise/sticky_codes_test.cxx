// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/sticky_codes.h"

#include "spng/core/row_chunks.h"
#include "spng/instrument/meter/allocation.h"
#include "tests/core/nothing_waits.h"
#include "tests/support/components.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace spng::test {
namespace {

constexpr std::int64_t ticks = 4000;
constexpr double baseline = 9402; // 58 above a multiple of 64

at::Tensor good_rows(const at::Tensor& waveforms) {
    return at::ones(waveforms.sizes().slice(0, waveforms.dim() - 1), at::kBool);
}

/// Noise of this RMS with two running means over some samples: (channels, ticks).
at::Tensor noise(std::int64_t channels, double rms, std::int64_t width) {
    const auto once = at::avg_pool1d(at::randn({channels, ticks + 2 * width - 2}, at::kDouble), {width}, {1});
    const auto w = static_cast<double>(width);
    return at::avg_pool1d(once, {width}, {1}) * (rms / std::sqrt((2 * w * w + 1) / (3 * w * w * w)));
}

/// Pulses of 200 to 400 counts with an RMS of 4 ticks, 200 ticks apart.
at::Tensor pulses() {
    const auto distance = at::arange(ticks, at::kDouble).remainder(200) - 100.3;
    const auto height = (at::rand({ticks / 200}, at::kDouble) * 200 + 200).repeat_interleave(200);
    return at::exp(distance.square() / -32) * height;
}

at::Tensor digitised(const at::Tensor& samples) {
    return samples.round().to(at::kShort);
}

/// Let a share of the samples stick at the nearer of 0 and 63 in their lowest six bits.
at::Tensor with_stuck_bits(const at::Tensor& samples, double share) {
    const auto bits = samples.remainder(64);
    const auto stuck = samples - bits + at::where(bits < 32, 0, 63);
    return at::where(at::rand(samples.sizes()) < share, stuck, samples).to(samples.scalar_type());
}

RepairedSamples repair(const at::Tensor& waveforms, const StickyCodesConfig& rule = {}) {
    return repair_sticky_codes(waveforms, good_rows(waveforms), rule, true);
}

double rms(const at::Tensor& values) {
    return values.to(at::kDouble).square().mean().sqrt().item<double>();
}

TEST(StickyCodes, IdealDigitiserKeepsItsBits) {
    at::manual_seed(1);
    const auto offsets = at::arange(64, at::kDouble).view({64, 1}) + 9408.3;
    for (const std::int64_t width : {1, 4}) {
        for (const double sigma : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 9.0, 20.0}) {
            const auto quiet = offsets + noise(64, sigma, width);
            for (const auto& input : {digitised(quiet), digitised(quiet + pulses())}) {
                const RepairedSamples seen = repair(input);
                EXPECT_TRUE(seen.waveforms.equal(input)) << sigma << " counts, width " << width;
                EXPECT_EQ(seen.counts.sum().item<std::int64_t>(), 0);
            }
        }
    }
}

TEST(StickyCodes, OnlyChannelsThatStickAreRepaired) {
    at::manual_seed(2);
    const auto ideal = digitised(noise(200, 14, 4) + baseline);
    auto input = ideal.clone();
    input.slice(0, 0, 200, 10).copy_(with_stuck_bits(ideal.slice(0, 0, 200, 10), 0.2));
    const RepairedSamples seen = repair(input);
    EXPECT_EQ(seen.waveforms.scalar_type(), at::kShort);
    const auto found = seen.counts > 0;
    EXPECT_EQ(found.sum().item<std::int64_t>(), 20);
    EXPECT_EQ(found.slice(0, 0, 200, 10).sum().item<std::int64_t>(), 20);
    const auto before = (input - ideal).slice(0, 0, 200, 10);
    const auto after = (seen.waveforms - ideal).slice(0, 0, 200, 10);
    EXPECT_GT(rms(before), 6);
    EXPECT_LT(rms(after), 0.4 * rms(before));
    // Samples at other codes keep their values.
    const auto bits = input.remainder(64);
    const auto other = (bits != 0) & (bits != 63);
    EXPECT_EQ(((seen.waveforms != input) & other).sum().item<std::int64_t>(), 0);
    EXPECT_EQ(seen.counts.sum().item<std::int64_t>(),
              other.logical_not().slice(0, 0, 200, 10).sum().item<std::int64_t>());
}

TEST(StickyCodes, TwoPercentOfTheSamplesAreFound) {
    at::manual_seed(3);
    const auto ideal = digitised(noise(50, 14, 4) + baseline);
    const auto input = with_stuck_bits(ideal, 0.02);
    const auto seen = repair(input);
    EXPECT_GE((seen.counts > 0).sum().item<std::int64_t>(), 45);
    EXPECT_LT(rms(seen.waveforms - ideal), 0.6 * rms(input - ideal));
}

TEST(StickyCodes, PulsesOfStickingChannelsKeepTheirHeight) {
    at::manual_seed(4);
    const auto signal = pulses();
    const auto ideal = digitised(noise(20, 6, 4) + signal + baseline);
    const auto input = with_stuck_bits(ideal, 0.2);
    const auto seen = repair(input);
    const auto in_pulses = (signal > 30).expand_as(ideal);
    const auto errors = [&](const at::Tensor& waveforms) {
        return (waveforms - ideal).masked_select(in_pulses).to(at::kDouble);
    };
    EXPECT_LT(rms(errors(seen.waveforms)), 0.75 * rms(errors(input)));
    EXPECT_LE((seen.waveforms - ideal).abs().max().item<std::int64_t>(), 63);
    const double whole = (ideal - baseline).masked_select(in_pulses).sum().item<double>();
    EXPECT_LT(std::abs(errors(seen.waveforms).sum().item<double>()) / whole, 0.003);
}

/// A slow wave between codes with 40 stuck single samples, 90 ticks apart.
struct SlowWave {
    at::Tensor truth =
        (at::sin(at::arange(ticks, at::kDouble) * (2 * M_PI / 500)) * 8 + 9438).view({1, ticks});
    at::Tensor input = truth.clone();
    SlowWave() { input.slice(1, 50, 3650, 90).fill_(9408); }
};

TEST(StickyCodes, SingleSamplesBecomeTheCubicThroughFour) {
    const SlowWave wave;
    const auto seen = repair(wave.input);
    EXPECT_EQ(seen.counts.item<std::int64_t>(), 40);
    // The error of a cubic is 9 / 16 of the fourth derivative at most: 8 (2 pi / 500)^4 = 2e-7.
    EXPECT_LT((seen.waveforms - wave.truth).abs().max().item<double>(), 2e-7);
}

TEST(StickyCodes, RunsBecomeLinesAndEndsTheirNeighbour) {
    const SlowWave wave;
    const auto input = wave.input.clone();
    input.slice(1, 3700, 3720).fill_(9471);
    input.slice(1, 0, 2).fill_(9408);
    input.slice(1, ticks - 1).fill_(9408);
    const auto seen = repair(input).waveforms;
    const auto at_tick = [&](const at::Tensor& row, std::int64_t tick) {
        return row[0][tick].item<double>();
    };
    const double first = at_tick(wave.truth, 3699), last = at_tick(wave.truth, 3720);
    EXPECT_NEAR(at_tick(seen, 3705), first + (last - first) * 6 / 21, 1e-9);
    EXPECT_EQ(at_tick(seen, 0), at_tick(wave.truth, 2));
    EXPECT_EQ(at_tick(seen, 1), at_tick(wave.truth, 2));
    EXPECT_EQ(at_tick(seen, ticks - 1), at_tick(wave.truth, ticks - 2));
}

TEST(StickyCodes, TheUpperBitsAreTrusted) {
    const SlowWave wave;
    const auto input = wave.input.clone();
    // Between samples of 9480 a sample at code 63 of the block that ends at 9471.
    input.slice(1, 3800, 3840).fill_(9480);
    input.slice(1, 3820, 3821).fill_(9471);
    // And one at code 0 of the block above.
    input.slice(1, 3825, 3826).fill_(9536);
    const auto seen = repair(input).waveforms;
    EXPECT_EQ(seen[0][3820].item<double>(), 9471);
    EXPECT_EQ(seen[0][3825].item<double>(), 9536);
}

TEST(StickyCodes, ALongRunStaysWithinItsBlock) {
    at::manual_seed(5);
    const auto ideal = digitised(noise(4, 14, 4) + baseline);
    auto input = with_stuck_bits(ideal, 0.2);
    input.slice(1, 1000, 1300).fill_(9408);
    const auto run = repair(input).waveforms.slice(1, 1000, 1300);
    EXPECT_GE(run.min().item<std::int64_t>(), 9408);
    EXPECT_LE(run.max().item<std::int64_t>(), 9471);
}

TEST(StickyCodes, SaturatedSamplesAreKept) {
    at::manual_seed(6);
    auto input = with_stuck_bits(digitised(noise(4, 14, 4) + 16300), 0.2);
    input = at::where(input > 16320, 16383, input).to(at::kShort);
    const StickyCodesConfig rule{.adc_bits = 14};
    const auto saturated = input == 16383;
    ASSERT_GT(saturated.sum().item<std::int64_t>(), 100);
    const auto seen = repair(input, rule);
    EXPECT_GT(seen.counts.min().item<std::int64_t>(), 0);
    EXPECT_EQ(((seen.waveforms != input) & saturated).sum().item<std::int64_t>(), 0);
}

TEST(StickyCodes, OtherCodesAndBadChannels) {
    at::manual_seed(7);
    const auto ideal = digitised(noise(6, 14, 4) + baseline);
    const auto input =
        at::where(at::rand(ideal.sizes()) < 0.1, ideal - ideal.remainder(64) + 6, ideal).to(at::kShort);
    EXPECT_TRUE(repair(input).waveforms.equal(input));
    auto good = good_rows(input);
    good[2] = false;
    const auto seen = repair_sticky_codes(input, good, {.codes = {6}}, true);
    EXPECT_EQ((seen.counts > 0).sum().item<std::int64_t>(), 5);
    EXPECT_TRUE(seen.waveforms[2].equal(input[2]));
    EXPECT_LT(rms(seen.waveforms - ideal), 0.6 * rms(input - ideal));
}

TEST(StickyCodes, DevicesGetTheSameWithoutAWait) {
    at::manual_seed(8);
    const auto ideal = digitised(noise(12, 14, 4) + baseline);
    const auto counts =
        at::cat({ideal.slice(0, 0, 6), with_stuck_bits(ideal.slice(0, 6), 0.3)}).view({2, 6, -1});
    for (const auto type : {at::kShort, at::kFloat, at::kDouble}) {
        const auto input = counts.to(type);
        const auto expected = repair(input);
        const auto seen = [&] {
            const testing::NothingWaits watched;
            return repair_sticky_codes(input, good_rows(input), {}, false);
        }();
        EXPECT_TRUE(seen.waveforms.equal(expected.waveforms));
        EXPECT_TRUE(seen.counts.equal(expected.counts));
        EXPECT_EQ(seen.waveforms.scalar_type(), type);
        // Each row as if it were alone.
        EXPECT_TRUE(repair(input[1]).waveforms.equal(expected.waveforms[1]));
    }
    const auto two = at::zeros({3, 2}, at::kShort);
    EXPECT_TRUE(repair(two).waveforms.equal(two));
    EXPECT_EQ(repair(at::zeros({3, 0}, at::kShort)).waveforms.numel(), 0);
    EXPECT_THROW(repair(at::zeros({3, 9}, at::kInt)), Error);
    EXPECT_THROW(repair_sticky_codes(two, at::ones({2}, at::kBool), {}, true), Error);
}

TEST(StickyCodes, TemporariesAreBounded) {
    const auto input = with_stuck_bits(digitised(noise(100, 14, 4) + baseline), 0.2);
    const auto good = good_rows(input);
    instrument::count_cpu_allocations();
    const instrument::AllocationScope scope(instrument::AllocationScope::Reports::none);
    const auto seen = repair_sticky_codes(input, good, {}, false);
    const auto kept = static_cast<std::int64_t>(seen.waveforms.nbytes() + seen.counts.nbytes());
    EXPECT_LE(scope.cpu().peak - kept, cached_composition_bytes);
}

TEST(StickyCodes, NodeCountsInANote) {
    at::manual_seed(9);
    Components components;
    auto& node = dynamic_cast<Node&>(components.add("SPNGStickyCodes:test", {{"adc_bits", 14}}));
    node.prepare(components.environment());
    const auto ideal = digitised(noise(8, 14, 4) + baseline).view({2, 4, -1});
    auto samples = ideal.clone();
    samples[1][2] = with_stuck_bits(ideal[1][2], 0.2);
    samples[1][3] = with_stuck_bits(ideal[1][3], 0.8);
    auto channels = std::make_shared<ChannelTable>();
    channels->views = {"U", "V"};
    channels->good = at::ones({2, 4}, at::kBool);
    NamedTensor waveforms;
    waveforms.name = "induction";
    waveforms.channels = channels;
    const auto call = [&](const at::Tensor& data) {
        waveforms.data = data;
        return node.call(
            0,
            {std::make_shared<const TensorSet>(std::make_shared<const EventInfo>(), std::vector{waveforms})},
            {});
    };
    EXPECT_TRUE(call(ideal)[0]->only().notes.empty());
    const Ports outputs = call(samples);
    const auto counts = repair(samples).counts[1].sum().item<std::int64_t>();
    EXPECT_EQ(outputs[0]->only().notes.at("sticky_codes"),
              "V: " + std::to_string(counts) +
                  " samples of 2 channels interpolated, 1 of them with more than half of their samples");
    EXPECT_TRUE(outputs[0]->only().data[0].equal(ideal[0]));
}

TEST(StickyCodes, WrongKeysAreRejected) {
    Components components;
    const auto where = [&](const nlohmann::json& data) {
        return error_of([&] { components.add("SPNGStickyCodes:test", data); }).text().where;
    };
    EXPECT_EQ(where({{"modulus", 60}}), "SPNGStickyCodes:test, key modulus");
    EXPECT_EQ(where({{"codes", {0, 64}}}), "SPNGStickyCodes:test, key codes");
    EXPECT_EQ(where({{"codes", {63, 0, 63}}}), "SPNGStickyCodes:test, key codes");
    EXPECT_EQ(where({{"modulus", 8}, {"codes", {0, 1, 2, 3, 4}}}), "SPNGStickyCodes:test, key codes");
}

} // namespace
} // namespace spng::test
