// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/region_seeds.h"

#include "spng/core/error.h"
#include "spng/nodes/coincidence/bit_ticks.h"
#include "spng/nodes/roi/channel_rms.h"
#include "spng/nodes/roi/long_pulses.h"
#include "spng/nodes/roi/region_growth.h"
#include "tests/core/device_composite.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace spng {
namespace {

NamedTensor image(const std::string& name, std::vector<float> samples, float rms = 1, float pedestal = 0) {
    auto channels = std::make_shared<ChannelTable>();
    channels->good = at::ones({1, 1}, at::kBool);
    NamedTensor out;
    out.name = name;
    out.data = at::tensor(samples, at::kFloat).view({1, 1, -1});
    out.summary = at::tensor({rms}, at::kFloat).view({1, 1});
    out.pedestal = at::tensor({pedestal}, at::kFloat).view({1, 1});
    out.channels = channels;
    return out;
}

std::string text(const at::Tensor& packed, std::int64_t ticks) {
    const at::Tensor mask = unpack_ticks(packed, ticks).flatten();
    std::string out;
    for (std::int64_t i = 0; i < mask.numel(); ++i) {
        out += mask.const_data_ptr<bool>()[i] ? '#' : '.';
    }
    return out;
}

at::Tensor packed(const std::string& pattern) {
    at::Tensor mask = at::zeros({1, 1, static_cast<std::int64_t>(pattern.size())}, at::kBool);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        mask.mutable_data_ptr<bool>()[i] = pattern[i] == '#';
    }
    return pack_ticks(mask);
}

TEST(RegionSeeds, ThresholdCountsFromThePedestalInUnitsOfNoise) {
    EXPECT_EQ(text(above(image("tight", {11, 12.5, 14, 10}, 2, 8), 2), 4), ".##.");
    EXPECT_EQ(text(above(image("tight", {11, 12.5, 14, 10}, 2, 8), 2, 1), 4), "..#.");
    NamedTensor no_noise = image("tight", {1});
    no_noise.summary = at::Tensor();
    EXPECT_THROW(above(no_noise, 1), Error);
}

TEST(RegionSeeds, ConfirmedAtTheSeedOrBrightEnoughAlone) {
    const auto event = std::make_shared<EventInfo>();
    const TensorSet images(event, {image("tight", {0, 2, 4.5, 2, 0, 2, 4.5, 0, 6, 2})});
    const GrowthPass pass{{"tight"}, "tight", 0};
    EXPECT_EQ(text(grown_seeds(images, pass, 4, 5, 1, {}), 10), ".###.##.##");
    EXPECT_EQ(text(grown_seeds(images, pass, 4, 5, 1, packed("..#.......")), 10), ".###....##");
}

TEST(RegionSeeds, ConfirmedAlongPartOfTheRun) {
    const auto event = std::make_shared<EventInfo>();
    const TensorSet images(event, {image("loose", {2, 2, 2, 2, 0, 2, 2, 2, 2, 0}),
                                   image("long", {0, 5, 0, 0, 0, 0, 5, 0, 0, 0})});
    const GrowthPass pass{{"long"}, "loose", 0.5};
    EXPECT_EQ(text(grown_seeds(images, pass, 4, 9, 1, packed("#..#..#...")), 10), "####......");
}

TEST(RegionSeeds, NeighboursStayInTheirViewAndWrapWhereItDoes) {
    at::Tensor mask = at::zeros({2, 4, 1}, at::kLong);
    mask[0][3][0] = 5;
    const auto rows = [](const at::Tensor& wider) {
        const at::Tensor flat = wider.flatten().contiguous();
        return std::vector<std::int64_t>(flat.const_data_ptr<std::int64_t>(),
                                         flat.const_data_ptr<std::int64_t>() + 8);
    };
    EXPECT_EQ(rows(with_neighbours(mask, false)), (std::vector<std::int64_t>{0, 0, 5, 5, 0, 0, 0, 0}));
    EXPECT_EQ(rows(with_neighbours(mask, true)), (std::vector<std::int64_t>{5, 0, 5, 5, 0, 0, 0, 0}));
}

TEST(ConfirmedRuns, KeepsByFractionOrByALoneSample) {
    EXPECT_EQ(
        text(confirmed_runs(packed("##.####.##"), packed("#..##....."), packed("........#."), 10, 0.5), 10),
        "##.####.##");
    EXPECT_EQ(
        text(confirmed_runs(packed("##.####.##"), packed("#..#......"), packed(".........."), 10, 0.5), 10),
        "##........");
}

TEST(ConfirmedRuns, CompositeAgreesWithTheKernel) {
    at::manual_seed(20261121);
    for (const std::int64_t ticks : {1, 63, 64, 130}) {
        const auto random = [&](double density) { return pack_ticks(at::rand({2, 20, ticks}) < density); };
        const at::Tensor runs = random(0.7), confirmed = random(0.4), lone = random(0.02);
        const auto composite = spng::testing::call_composite<at::Tensor, const at::Tensor&, const at::Tensor&,
                                                             const at::Tensor&, std::int64_t, double>(
            "spng::confirmed_runs", runs, confirmed, lone, ticks, 0.4);
        EXPECT_TRUE(composite.equal(confirmed_runs(runs, confirmed, lone, ticks, 0.4))) << ticks;
    }
}

TEST(PackAbove, IsTheComparisonOfEachRowWithItsThreshold) {
    at::manual_seed(7);
    const at::Tensor waveform = at::rand({2, 5, 150}).narrow(2, 0, 130);
    const at::Tensor rms = at::rand({2, 5});
    const at::Tensor pedestal = at::rand({2, 5}) - 0.5;
    at::Tensor good = at::ones({2, 5}, at::kBool);
    good[1][3] = false;
    EXPECT_TRUE(unpack_ticks(pack_above(waveform, {.rms = rms}), 130).equal(waveform > rms.unsqueeze(-1)));
    const at::Tensor above = waveform > (rms * 0.7 + pedestal + 0.1).unsqueeze(-1);
    const Threshold threshold{.rms = rms, .factor = 0.7, .pedestal = pedestal, .nominal = 0.1, .good = good};
    const at::Tensor packed = pack_above(waveform, threshold);
    EXPECT_TRUE(unpack_ticks(packed, 130).equal(above & good.unsqueeze(-1)));
    const auto composite = spng::testing::call_composite<at::Tensor, const at::Tensor&, const at::Tensor&,
                                                         double, const std::optional<at::Tensor>&, double,
                                                         const std::optional<at::Tensor>&>(
        "spng::pack_above", waveform, rms, 0.7, pedestal, 0.1, good);
    EXPECT_TRUE(composite.equal(packed));
    EXPECT_THROW(pack_above(waveform, {.rms = rms.to(at::kDouble)}), Error);
    EXPECT_THROW(pack_above(waveform, {.rms = rms, .pedestal = pedestal[0]}), Error);
    EXPECT_THROW(pack_above(waveform, {.rms = rms, .good = rms}), Error);
}

TEST(LongPulses, RunningSumOfClippedSamplesEndsAtTheRow) {
    const at::Tensor waveform = at::tensor({1.f, 12.f, -30.f, 4.f}, at::kFloat).view({1, 1, 4});
    const at::Tensor two = at::tensor({2.f}, at::kFloat).view({1, 1});
    const at::Tensor zero = at::zeros({1, 1});
    // Samples over the RMS: 0.5, 6 clipped to 3, -15 clipped to -3, 2.
    const at::Tensor expected = at::tensor({3.5f, 0.5f, 2.0f, -1.0f}, at::kFloat).view({1, 1, 4});
    EXPECT_TRUE(clipped_running_sum(waveform, zero, two, 3, 3).equal(expected));
    EXPECT_TRUE(clipped_running_sum(waveform, zero, zero, 3, 3).equal(at::zeros({1, 1, 4})));
    const auto composite = spng::testing::call_composite<at::Tensor, const at::Tensor&, const at::Tensor&,
                                                         const at::Tensor&, double, std::int64_t>(
        "spng::clipped_running_sum", waveform, zero, two, 3, 3);
    EXPECT_TRUE(composite.equal(expected));
}

TEST(LongPulses, SumOfNeighboursWrapsOnlyCyclicViews) {
    const at::Tensor waveform = at::tensor({1.f, 2.f, 4.f, 8.f}, at::kFloat).view({1, 4, 1});
    EXPECT_TRUE(
        sum_of_neighbours(waveform, false).flatten().equal(at::tensor({3.f, 7.f, 14.f, 12.f}, at::kFloat)));
    EXPECT_TRUE(
        sum_of_neighbours(waveform, true).flatten().equal(at::tensor({11.f, 7.f, 14.f, 13.f}, at::kFloat)));
}

TEST(ChannelRMS, CapLimitsNoisyChannelsAndLeavesDeadOnesOut) {
    const at::Tensor rms = at::tensor({0.f, 1.f, 2.f, 3.f, 50.f}, at::kFloat).view({1, 5});
    const at::Tensor low = at::zeros({1, 5});
    const ChannelNoise noise =
        capped({low, at::tensor({0.f, 0.f, 1.f, 9.f, 40.f}, at::kFloat).view({1, 5}), rms}, 3);
    // The lower median of 1, 2, 3, 50 is 2, so the limit is 6; the median is at most low + RMS.
    EXPECT_TRUE(noise.rms.flatten().equal(at::tensor({0.f, 1.f, 2.f, 3.f, 6.f}, at::kFloat)));
    EXPECT_TRUE(noise.median.flatten().equal(at::tensor({0.f, 0.f, 1.f, 3.f, 6.f}, at::kFloat)));
}

} // namespace
} // namespace spng
