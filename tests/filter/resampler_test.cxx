// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/filter/resampler.h"

#include "spng/nodes/channels/channel_ranges.h"

#include "tests/support/components.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <numbers>

namespace spng::test {
namespace {

constexpr double raw = 512, chain = 500; // ns
constexpr std::int64_t raw_ticks = 5859, chain_ticks = 6000;

/// Return times of ticks [ns].
at::Tensor times(std::int64_t ticks, double period) {
    return at::arange(ticks, at::kDouble) * period;
}

/// Return a wave within a Gaussian of 20 us around the middle of the readout.
/// @param frequency  [MHz]
at::Tensor burst(const at::Tensor& ns, double frequency, double phase) {
    const at::Tensor distance = ns - 1.5e6;
    return 9400.0 + 250.0 * at::cos(distance * (2e-3 * std::numbers::pi * frequency) + phase) *
                        at::exp((distance / 20e3).square() * -0.5);
}

double largest_difference(const at::Tensor& one, const at::Tensor& other) {
    return (one - other).abs().max().item<double>();
}

TEST(Resampler, WavesBelowBothNyquistFrequenciesKeepAmplitudePhaseAndBaseline) {
    for (const auto& [from, to] : {std::pair{raw, chain}, {chain, raw}, {400.0, 500.0}}) {
        const PeriodRatio ratio = period_ratio(from, to);
        for (const double frequency : {0.001, 0.05, 0.3, 0.9}) {
            const std::int64_t ticks = static_cast<std::int64_t>(3e6 / from);
            const at::Tensor seen =
                resample(burst(times(ticks, from), frequency, 0.7).view({1, 1, -1}), ratio, at::kDouble);
            const at::Tensor expected = burst(times(ratio.ceil(ticks), to), frequency, 0.7);
            EXPECT_LT(largest_difference(seen[0][0], expected), 1e-7)
                << from << " " << to << " " << frequency;
        }
    }
}

TEST(Resampler, CountsOfADigitiserAreInterpolatedInFloat32) {
    const at::Tensor counts = burst(times(raw_ticks, raw), 0.1, 0).round();
    const PeriodRatio ratio = period_ratio(raw, chain);
    const at::Tensor exact = resample(counts.view({1, -1}), ratio, at::kDouble);
    const at::Tensor seen = resample(counts.to(at::kShort).view({1, -1}), ratio, at::kFloat);
    EXPECT_EQ(seen.sizes(), (std::vector<std::int64_t>{1, chain_ticks}));
    EXPECT_LT(largest_difference(seen.to(at::kDouble), exact), 2e-3);
}

TEST(Resampler, PulsesKeepTheirAreaInTime) {
    const at::Tensor distance = times(raw_ticks, raw) - 1.234567e6;
    const at::Tensor pulse = at::exp((distance / 1100).square() * -0.5) * 800.0;
    const at::Tensor seen = resample(pulse.view({1, -1}), period_ratio(raw, chain), at::kDouble);
    EXPECT_NEAR((seen.sum() * chain / (pulse.sum() * raw)).item<double>(), 1, 1e-9);
}

/// Without the line from the last to the first sample, the jump of 1000 counts would ring by 9 counts at 20 ticks.
TEST(Resampler, DifferentLevelsAtTheEndsDoNotRing) {
    const at::Tensor slope = at::linspace(3000, 4000, raw_ticks, at::kDouble);
    const at::Tensor level = at::full({raw_ticks}, 3000.0, at::kDouble);
    const at::Tensor seen = resample(at::stack({slope, level}), period_ratio(raw, chain), at::kDouble);
    const double per_tick = 1000.0 / static_cast<double>(raw_ticks - 1) * chain / raw;
    const at::Tensor expected = 3000.0 + per_tick * at::arange(chain_ticks, at::kDouble);
    const auto difference_beyond = [&](std::int64_t first, std::int64_t last) {
        return largest_difference(seen[0].slice(0, first, chain_ticks - last),
                                  expected.slice(0, first, chain_ticks - last));
    };
    EXPECT_LT(difference_beyond(0, 0), 3.0) << "the last tick is later than the last sample";
    EXPECT_LT(difference_beyond(0, 1), 1.0);
    EXPECT_LT(difference_beyond(20, 20), 0.05);
    EXPECT_LT(largest_difference(seen[1], at::full({chain_ticks}, 3000.0, at::kDouble)), 1e-9);
}

TEST(Resampler, RowsInSeveralChunksAndNoRows) {
    const PeriodRatio ratio = period_ratio(raw, chain);
    const at::Tensor row = burst(times(raw_ticks, raw), 0.1, 0);
    const at::Tensor one = resample(row.view({1, 1, -1}), ratio, at::kDouble);
    const at::Tensor many = resample(row.expand({2, 150, -1}), ratio, at::kDouble);
    EXPECT_LT(largest_difference(many, one.expand({2, 150, -1})), 1e-9);
    EXPECT_EQ(resample(at::zeros({2, 0, 10}), ratio, at::kFloat).sizes(),
              (std::vector<std::int64_t>{2, 0, 11}));
    EXPECT_EQ(resample(at::zeros({2, 3, 1}), ratio, at::kFloat).sizes(),
              (std::vector<std::int64_t>{2, 3, 2}));
}

TEST(Resampler, RejectsOtherTensors) {
    const PeriodRatio ratio = period_ratio(raw, chain);
    EXPECT_THROW(resample(at::zeros({2, 10}, at::kInt), ratio, at::kFloat), Error);
    EXPECT_THROW(resample(at::zeros({2, 10}), ratio, at::kShort), Error);
}

TEST(Resampler, TheNodeGivesTheSamplingOfTheEvent) {
    Components components;
    auto& node = dynamic_cast<Node&>(components.add("SPNGResampler:test", nlohmann::json::object()));
    node.prepare(components.environment());
    auto event = std::make_shared<EventInfo>();
    event->start = 1000;
    event->tick = chain;
    event->ticks = 103;
    const auto set = [&](double period, std::int64_t ticks) {
        NamedTensor tensor;
        tensor.name = "induction";
        tensor.data = at::full({2, 3, ticks}, 2350, at::kShort);
        tensor.axes = {{"view", "", 0, 1}, {"channel", "", 0, 1}, {"tick", "ns", 1000, period}};
        return std::make_shared<const TensorSet>(event, std::vector{tensor});
    };
    const NamedTensor seen = node.call(0, {set(raw, 100)}, {}).at(0)->only();
    EXPECT_TRUE(seen.data.equal(at::full({2, 3, 103}, 2350.f)));
    EXPECT_EQ(seen.axes.back().start, 1000);
    EXPECT_EQ(seen.axes.back().period, chain);
    EXPECT_EQ(seen.notes.at("resampled"), "from 512.000 ns to 500.000 ns");

    const auto same = set(chain, 103);
    EXPECT_EQ(node.call(0, {same}, {}).at(0), same);
    EXPECT_EQ(error_of([&] { node.call(0, {set(raw, 99)}, {}); }).text().seen, "102");
}

TEST(Resampler, MasksCoverTheSameTime) {
    const PeriodRatio ratio = period_ratio(raw, chain);
    EXPECT_EQ(ratio.ceil(raw_ticks), chain_ticks);
    EXPECT_EQ(ratio.ceil(125), 128);
    EXPECT_EQ(ratio.floor(125), 128);
    EXPECT_EQ(ratio.floor(-1), -2);
    EXPECT_EQ(ratio.ceil(-1), -1);
    const ChannelMasks masks{{"bad", {{7, 0, raw_ticks}, {8, 100, 101}}}, {"nan", {{9, 125, 250}}}};
    const ChannelMasks expected{{"bad", {{7, 0, chain_ticks}, {8, 102, 104}}}, {"nan", {{9, 128, 256}}}};
    EXPECT_EQ(resampled(masks, ratio), expected);
}

TEST(Resampler, PeriodsWithoutASmallRatioAreRejected) {
    Components components;
    const Error error = error_of([&] {
        components.add(
            "SPNGFrameToTorchSetFanout:test",
            {{"output_groups", {"induction"}}, {"readout_period", 512.001}, {"chain_period", 500}});
    });
    EXPECT_EQ(error.text().where, "SPNGFrameToTorchSetFanout:test, key chain_period");
}

} // namespace
} // namespace spng::test
