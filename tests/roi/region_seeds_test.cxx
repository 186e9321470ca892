// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/region_seeds.h"

#include "spng/core/error.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/nodes/roi/long_pulses.h"
#include "spng/nodes/roi/region_growth.h"
#include "spng/nodes/roi/robust_rms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/stack.h>
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

/// Return the only level of an image.
at::Tensor above(const NamedTensor& image, double factor, double nominal = 0) {
    const TensorSet set(std::make_shared<EventInfo>(), {image});
    ImageLevels levels(set);
    EXPECT_EQ(levels.add(image.name, factor, nominal), 0);
    return levels.packed()[0];
}

/// Return the runs of a pass with seeds at 4, lone seeds above `lone`, and growth at 1.
at::Tensor runs_of(const TensorSet& images, const GrowthPass& pass, std::optional<double> lone,
                   const std::vector<at::Tensor>& confirmed, std::int64_t ticks) {
    ImageLevels levels(images);
    const RegionRule rule{.passes = {region_pass(levels, pass, {.seed = 4, .lone = lone, .grow = 1})}};
    return find_regions(levels.packed(), confirmed, rule, ticks);
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
    EXPECT_EQ(text(runs_of(images, pass, {}, {}, 10), 10), ".###.##.##");
    EXPECT_EQ(text(runs_of(images, pass, 5, {packed("..#.......")}, 10), 10), ".###....##");
    EXPECT_EQ(text(runs_of(images, pass, 5, {packed(".........."), packed("..#.......")}, 10), 10),
              ".###....##");
}

TEST(RegionSeeds, ConfirmedAlongPartOfTheRun) {
    const auto event = std::make_shared<EventInfo>();
    const TensorSet images(event, {image("loose", {2, 2, 2, 2, 0, 2, 2, 2, 2, 0}),
                                   image("long", {0, 5, 0, 0, 0, 0, 5, 0, 0, 0})});
    const GrowthPass pass{{"long"}, "loose", 0.5};
    EXPECT_EQ(text(runs_of(images, pass, 9, {packed("#..#..#...")}, 10), 10), "####......");
}

at::Tensor one_bit(std::int64_t view, std::int64_t channel) {
    at::Tensor mask = at::zeros({2, 4, 1}, at::kLong);
    mask[view][channel][0] = 5;
    return mask;
}

TEST(RegionSeeds, NeighboursStayInTheirViewAndWrapWhereItDoes) {
    const at::Tensor everywhere = at::full({2, 4, 1}, 7, at::kLong);
    const at::Tensor levels = at::stack({one_bit(0, 3), everywhere});
    const auto rows = [&](bool cyclic, const at::Tensor& confirmed) {
        const RegionRule rule{
            .passes = {{.seeds = 1, .grow = 0, .confirmed_fraction = 1e-9}}, .beside = 1, .cyclic = cyclic};
        const at::Tensor flat = find_regions(levels, {confirmed}, rule, 3).flatten().contiguous();
        return std::vector<std::int64_t>(flat.const_data_ptr<std::int64_t>(),
                                         flat.const_data_ptr<std::int64_t>() + 8);
    };
    using Rows = std::vector<std::int64_t>;
    EXPECT_EQ(rows(false, everywhere), (Rows{0, 0, 5, 5, 0, 0, 0, 0}));
    EXPECT_EQ(rows(true, everywhere), (Rows{5, 0, 5, 5, 0, 0, 0, 0}));
    EXPECT_EQ(rows(true, everywhere.bitwise_and(4) | one_bit(0, 3)), (Rows{4, 0, 4, 5, 0, 0, 0, 0}));
}

TEST(FindRegions, OrOfPassesAndLevelsIsWidened) {
    const auto levels = at::stack({packed("..#.......").squeeze(0).squeeze(0), //
                                   packed(".###......").squeeze(0).squeeze(0), //
                                   packed("......#...").squeeze(0).squeeze(0)})
                            .view({3, 1, 1, 1});
    EXPECT_EQ(
        text(find_regions(levels, {}, {.passes = {{.seeds = 1, .grow = 1}}, .always = 4, .pad = 1}, 10), 10),
        "########..");
    EXPECT_EQ(text(find_regions(levels, {}, {.always = 5}, 10), 10), "..#...#...");
    EXPECT_EQ(text(find_regions(levels, {}, {}, 10), 10), "..........");
}

TEST(FindRegions, ASeedBesideAnRoiNeedsNoConfirmation) {
    // Channel 0 has a seed that counts alone, 1 a seed beside its ROI and one elsewhere, 2 a seed beside that of 1 alone.
    const std::vector<std::string> seeds = {"..#.......", "..#.....#.", "..#......."},
                                   lone = {"..#.......", "..........", ".........."},
                                   grow = {".###......", ".###...###", ".###......"};
    const auto level = [](const std::vector<std::string>& rows) {
        std::vector<at::Tensor> words;
        for (const auto& row : rows) {
            words.push_back(packed(row).view({1}));
        }
        return at::stack(words).view({1, 3, 1});
    };
    const auto levels = at::stack({level(seeds), level(lone), level(grow)});
    const auto none = at::zeros({1, 3, 1}, at::kLong);
    const RegionRule rule = {.passes = {{.seeds = 1, .lone = 2, .grow = 2}}, .beside = 2};
    const auto seen = [&](const RegionRule& chosen) {
        const auto regions = find_regions(levels, {none}, chosen, 10);
        std::vector<std::string> rows;
        for (const int channel : {0, 1, 2}) {
            rows.push_back(text(regions.narrow(1, channel, 1), 10));
        }
        return rows;
    };
    EXPECT_EQ(seen(rule), (std::vector<std::string>{".###......", ".###......", ".........."}));
    RegionRule wrapped = rule;
    wrapped.cyclic = true;
    EXPECT_EQ(seen(wrapped), (std::vector<std::string>{".###......", ".###......", ".###......"}));
    RegionRule alone = rule;
    alone.beside = -1;
    EXPECT_EQ(seen(alone), (std::vector<std::string>{".###......", "..........", ".........."}));
}

TEST(FindRegions, WrongRulesAreRejected) {
    const auto levels = at::zeros({2, 1, 3, 1}, at::kLong);
    const auto one = levels[0];
    EXPECT_NO_THROW(find_regions(levels, {one}, {.passes = {{.seeds = 1, .grow = 1}}, .beside = 0}, 10));
    EXPECT_THROW(find_regions(levels, {one}, {.passes = {{.seeds = 4, .grow = 1}}}, 10), Error);
    EXPECT_THROW(find_regions(levels, {one}, {.passes = {{.seeds = 0, .grow = 1}}}, 10), Error);
    EXPECT_THROW(find_regions(levels, {one}, {.passes = {{.seeds = 1, .grow = 2}}}, 10), Error);
    EXPECT_THROW(find_regions(levels, {one}, {.always = 4}, 10), Error);
    EXPECT_THROW(find_regions(levels, {one}, {.passes = {{.seeds = 1}}, .beside = 2}, 10), Error);
    EXPECT_THROW(find_regions(levels, {}, {.passes = {{.seeds = 1}}, .beside = 1}, 10), Error);
    EXPECT_THROW(find_regions(levels, {one}, {.pad = -1}, 10), Error);
    EXPECT_THROW(find_regions(levels, {levels}, {}, 10), Error);
    EXPECT_THROW(find_regions(levels, {}, {}, 65), Error);
    EXPECT_THROW(find_regions(one, {}, {}, 10), Error);
}

TEST(ConfirmedRuns, KeepsByFractionOrByALoneSample) {
    EXPECT_EQ(
        text(confirmed_runs(packed("##.####.##"), packed("#..##....."), packed("........#."), 10, 0.5), 10),
        "##.####.##");
    EXPECT_EQ(
        text(confirmed_runs(packed("##.####.##"), packed("#..#......"), packed(".........."), 10, 0.5), 10),
        "##........");
}

TEST(PackLevels, IsTheComparisonOfEachRowWithItsThresholds) {
    at::manual_seed(7);
    const at::Tensor waveform = at::rand({2, 5, 150}).narrow(2, 0, 130);
    const at::Tensor rms = at::rand({2, 5});
    const at::Tensor pedestal = at::rand({2, 5}) - 0.5;
    at::Tensor good = at::ones({2, 5}, at::kBool);
    good[1][3] = false;
    const std::vector<LevelRows> images{{.waveform = waveform, .rms = rms},
                                        {.waveform = waveform, .rms = rms, .pedestal = pedestal},
                                        {.waveform = waveform}};
    const std::vector<Level> levels{{0, 1}, {1, 0.7, 0.1}, {2, 9, 0.25}, {0, 0.5}};
    const auto expected =
        at::stack({waveform > rms.unsqueeze(-1), waveform > (rms * 0.7 + pedestal + 0.1).unsqueeze(-1),
                   waveform > 0.25, waveform > (rms * 0.5).unsqueeze(-1)});
    EXPECT_TRUE(unpack_ticks(pack_levels(images, levels), 130).equal(expected));
    const at::Tensor packed = pack_levels(images, levels, good);
    EXPECT_TRUE(unpack_ticks(packed, 130).equal(expected & good.unsqueeze(-1)));
    EXPECT_EQ(pack_levels(images, {}).sizes(), (std::vector<std::int64_t>{0, 2, 5, 3}));
    EXPECT_THROW(pack_levels({}, levels), Error);
    EXPECT_THROW(pack_levels(images, {{3, 1}}), Error);
    EXPECT_THROW(pack_levels({{.waveform = waveform, .rms = rms.to(at::kDouble)}}, {}), Error);
    EXPECT_THROW(pack_levels({{.waveform = waveform, .pedestal = pedestal[0]}}, {}), Error);
    EXPECT_THROW(pack_levels({{.waveform = waveform}, {.waveform = waveform[0]}}, {}), Error);
    EXPECT_THROW(pack_levels(images, levels, rms), Error);
}

TEST(LongPulses, RunningSumOfClippedSamplesEndsAtTheRow) {
    const at::Tensor waveform = at::tensor({1.f, 12.f, -30.f, 4.f}, at::kFloat).view({1, 1, 4});
    const at::Tensor two = at::tensor({2.f}, at::kFloat).view({1, 1});
    const at::Tensor zero = at::zeros({1, 1});
    // Samples over the RMS: 0.5, 6 clipped to 3, -15 clipped to -3, 2.
    const at::Tensor expected = at::tensor({3.5f, 0.5f, 2.0f, -1.0f}, at::kFloat).view({1, 1, 4});
    EXPECT_TRUE(clipped_running_sum(waveform, zero, two, 3, {3})[0].equal(expected));
    EXPECT_TRUE(clipped_running_sum(waveform, zero, zero, 3, {3})[0].equal(at::zeros({1, 1, 4})));
    const at::Tensor both = clipped_running_sum(waveform, zero, two, 3, {1, 3});
    EXPECT_TRUE(both[0].flatten().equal(at::tensor({0.5f, 3.f, -3.f, 2.f}, at::kFloat)));
    EXPECT_TRUE(both[1].equal(expected));
    EXPECT_THROW(clipped_running_sum(waveform, zero, two, 3, {3, 4}), Error);
    EXPECT_THROW(clipped_running_sum(waveform, zero, two, 3, {}), Error);
}

TEST(LongPulses, SumOfNeighboursWrapsOnlyCyclicViews) {
    const at::Tensor waveform = at::tensor({1.f, 2.f, 4.f, 8.f}, at::kFloat).view({1, 4, 1});
    for (const bool cyclic : {false, true}) {
        const at::Tensor expected = cyclic ? at::tensor({11.f, 7.f, 14.f, 13.f}, at::kFloat)
                                           : at::tensor({3.f, 7.f, 14.f, 12.f}, at::kFloat);
        EXPECT_TRUE(sum_of_neighbours(waveform, cyclic).flatten().equal(expected));
    }
    EXPECT_TRUE(sum_of_neighbours(waveform.narrow(1, 0, 1), true).equal(waveform.narrow(1, 0, 1)));
    EXPECT_TRUE(sum_of_neighbours(waveform.narrow(1, 0, 2), true)
                    .flatten()
                    .equal(at::tensor({5.f, 4.f}, at::kFloat)));
    EXPECT_THROW(sum_of_neighbours(waveform[0], true), Error);
}

TEST(CappedNoise, LimitsNoisyChannelsAndLeavesDeadOnesOut) {
    const at::Tensor rms = at::tensor({0.f, 1.f, 2.f, 3.f, 50.f}, at::kFloat).view({1, 5});
    const at::Tensor low = at::zeros({1, 5});
    const ChannelNoise noise =
        capped_noise({low, at::tensor({0.f, 0.f, 1.f, 9.f, 40.f}, at::kFloat).view({1, 5}), rms}, {}, 3);
    // The lower median of 1, 2, 3, 50 is 2, so the limit is 6; the median is at most low + RMS.
    EXPECT_TRUE(noise.rms.flatten().equal(at::tensor({0.f, 1.f, 2.f, 3.f, 6.f}, at::kFloat)));
    EXPECT_TRUE(noise.median.flatten().equal(at::tensor({0.f, 0.f, 1.f, 3.f, 6.f}, at::kFloat)));
}

TEST(CappedNoise, CountsGoodChannelsOnly) {
    // Absent channels have the rounding of the transform; most channels of the view are absent.
    at::Tensor rms = at::full({1, 100}, 5e-5f);
    rms.narrow(1, 0, 12).copy_(at::tensor({1.f, 1.f, 1.f, 2.f, 2.f, 2.f, 2.f, 2.f, 3.f, 3.f, 3.f, 50.f}));
    const at::Tensor zero = at::zeros({1, 100}), good = rms.gt(0.5);
    const at::Tensor predicted = at::full({1, 100}, 4.f);
    const auto limited = [&](const ViewNoise& view) {
        return capped_noise({zero, zero, rms}, view, 3).rms.narrow(1, 0, 12);
    };
    EXPECT_FLOAT_EQ(limited({}).max().item<float>(), 1.5e-4f);
    for (const ViewNoise& view : {ViewNoise{good, {}}, ViewNoise{good, predicted}}) {
        EXPECT_EQ(limited(view)[0][11].item<float>(), 6) << "three times the median of 2";
        EXPECT_TRUE(limited(view).narrow(1, 0, 11).equal(rms.narrow(1, 0, 11)));
    }
    // Nine channels are too few to measure.
    const at::Tensor few = good.clone();
    few.narrow(1, 0, 3).fill_(false);
    EXPECT_EQ(limited({few, predicted})[0][11].item<float>(), 12) << "three times the prediction of 4";
    EXPECT_EQ(limited({few, {}})[0][11].item<float>(), 6);
    EXPECT_THROW(capped_noise({zero, zero, rms}, {good.narrow(1, 0, 9), {}}, 3), Error);
}

} // namespace
} // namespace spng
