// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/channel_selection.h"

#include "spng/nodes/frame/row_scatter.h"

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <limits>

namespace spng {
namespace {

at::Tensor rows(std::vector<std::int64_t> values) {
    return at::tensor(values, at::kLong).unsqueeze(0);
}
at::Tensor ids(std::vector<int> values) {
    return at::tensor(values, at::kInt).unsqueeze(0);
}

std::vector<double> row(const at::Tensor& tensor, std::int64_t channel) {
    const at::Tensor values = tensor[0][channel].to(at::kDouble).contiguous();
    return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

using Row = std::vector<double>;

TEST(ChannelSelection, RowsAreGatheredAndMissingOnesAreZero) {
    const at::Tensor samples = at::tensor({1, 2, 3, 4, 5, 6}, at::kShort).view({2, 3});
    const auto selected =
        select_channels(samples, rows({1, -1, 0}), ids({11, 12, 10}), {}, std::nullopt, largest_sample(14));
    EXPECT_EQ(selected.waveforms.scalar_type(), at::kShort);
    EXPECT_EQ(row(selected.waveforms, 0), (Row{4, 5, 6}));
    EXPECT_EQ(row(selected.waveforms, 1), (Row{0, 0, 0}));
    EXPECT_EQ(row(selected.waveforms, 2), (Row{1, 2, 3}));
    EXPECT_EQ(row(selected.good.unsqueeze(-1), 1), Row{0});
    EXPECT_EQ(selected.findings.missing, (std::vector<ChannelRange>{{12, 0, 3}}));
}

TEST(ChannelSelection, OneValueThatIsNotFiniteEmptiesItsRowOnly) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
        at::Tensor samples = at::full({2, 3}, 7.0f);
        samples[1][2] = bad;
        const auto selected =
            select_channels(samples, rows({0, 1}), ids({10, 11}), {}, std::nullopt, largest_sample(14));
        EXPECT_EQ(row(selected.waveforms, 0), (Row{7, 7, 7}));
        EXPECT_EQ(row(selected.waveforms, 1), (Row{0, 0, 0}));
        EXPECT_EQ(selected.findings.not_finite, (std::vector<ChannelRange>{{11, 0, 3}}));
    }
}

TEST(ChannelSelection, ASampleThatNoDigitiserGivesEmptiesItsRowOnly) {
    for (const float bad : {3e38f, -16.1f * 16384, std::numeric_limits<float>::max()}) {
        at::Tensor samples = at::full({2, 3}, 7.0f);
        samples[1][0] = bad;
        const auto selected =
            select_channels(samples, rows({0, 1}), ids({10, 11}), {}, std::nullopt, largest_sample(14));
        EXPECT_EQ(row(selected.waveforms, 0), (Row{7, 7, 7}));
        EXPECT_EQ(row(selected.waveforms, 1), (Row{0, 0, 0}));
        EXPECT_EQ(row(selected.good.unsqueeze(-1), 1), Row{0});
        EXPECT_EQ(selected.findings.out_of_range, (std::vector<ChannelRange>{{11, 0, 3}}));
        EXPECT_TRUE(selected.findings.not_finite.empty());
    }
}

TEST(ChannelSelection, LargeSamplesOfADigitiserAreKept) {
    const at::Tensor samples = at::tensor({262144.f, -262144.f, 1.f}, at::kFloat).view({1, 3});
    const auto selected =
        select_channels(samples, rows({0}), ids({10}), {}, std::nullopt, largest_sample(14));
    EXPECT_EQ(row(selected.waveforms, 0), (Row{262144, -262144, 1}));
}

TEST(ChannelSelection, ChannelsAreCountedByView) {
    const at::Tensor samples =
        at::tensor({5.f, 5.f, 5.f, 1.f, 2.f, 3.f, 1.f, 2.f, 3.f, 1.f, 2.f, 3.f}).view({4, 3});
    samples[1][1] = std::numeric_limits<float>::infinity();
    const at::Tensor view_rows = at::tensor({0, 1, 2, 3, -1, 2}, at::kLong).view({2, 3});
    const at::Tensor view_ids = at::tensor({10, 11, 12, 13, 14, 15}, at::kInt).view({2, 3});
    const auto selected = select_channels(samples, view_rows, view_ids, {{12, 0, 3}, {13, 1, 2}},
                                          std::nullopt, largest_sample(14));
    ASSERT_EQ(selected.findings.counts.size(), 2u);
    const auto& first = selected.findings.counts[0];
    EXPECT_EQ(first.channels, 3u);
    EXPECT_EQ(first.constant, 1u);
    EXPECT_EQ(first.not_finite, 1u);
    EXPECT_EQ(first.masked, 1u);
    EXPECT_EQ(first.unusable(), 3u);
    const auto& second = selected.findings.counts[1];
    EXPECT_EQ(second.absent, 1u);
    EXPECT_EQ(second.partly_masked, 1u);
    EXPECT_EQ(second.unusable(), 1u);
}

TEST(ChannelSelection, RangesOutsideTheReadoutMaskNothing) {
    const auto bad_ticks =
        bad_ticks_of(at::tensor({10, 11}, at::kInt), {{10, 3, 9}, {10, -5, 0}, {11, 2, 9}}, 3);
    EXPECT_TRUE(bad_ticks.is_masked.equal(at::tensor({0, 1}, at::kInt).to(at::kBool)));
    EXPECT_TRUE(bad_ticks.ranges.equal(at::tensor({2, 3}, at::kLong).view({1, 2})));
}

TEST(ChannelSelection, AChannelThatIsDeadAtARailIsNotCountedAsSaturated) {
    const at::Tensor samples = at::tensor({0, 0, 0, 0, 4095, 5}, at::kShort).view({2, 3});
    const auto selected =
        select_channels(samples, rows({0, 1}), ids({10, 11}), {}, Rails{0, 4095}, largest_sample(12));
    EXPECT_EQ(selected.findings.counts[0].constant, 1u);
    EXPECT_EQ(selected.findings.counts[0].saturated, 1u);
    EXPECT_EQ(selected.findings.counts[0].saturated_samples, 2u);
}

TEST(ChannelSelection, RangesThatTogetherCoverTheReadoutMakeADeadChannel) {
    const at::Tensor samples = at::full({2, 6}, 9, at::kShort);
    const auto selected = select_channels(samples, rows({0, 1}), ids({10, 11}), {{10, 3, 6}, {10, 0, 3}},
                                          std::nullopt, largest_sample(14));
    EXPECT_EQ(row(selected.waveforms, 0), (Row{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(row(selected.good.unsqueeze(-1), 0), Row{0});
    EXPECT_EQ(row(selected.good.unsqueeze(-1), 1), Row{1});
}

TEST(ChannelSelection, ShorterBadRangesAreBridged) {
    const at::Tensor samples = at::tensor({10, 99, 99, 40, 50, 99}, at::kShort).view({1, 6});
    const auto selected = select_channels(samples, rows({0}), ids({10}), {{10, 1, 3}, {10, 5, 6}},
                                          std::nullopt, largest_sample(14));
    EXPECT_EQ(row(selected.waveforms, 0), (Row{10, 20, 30, 40, 50, 50}));
}

TEST(ChannelSelection, SaturatedRunsAreListedAndKept) {
    const at::Tensor samples = at::tensor({5, 4095, 4095, 5, 0, 5}, at::kShort).view({1, 6});
    const auto selected =
        select_channels(samples, rows({0}), ids({10}), {}, Rails{0, 4095}, largest_sample(12));
    EXPECT_EQ(row(selected.waveforms, 0), (Row{5, 4095, 4095, 5, 0, 5}));
    EXPECT_EQ(selected.findings.saturated, (std::vector<ChannelRange>{{10, 1, 3}, {10, 4, 5}}));
}

TEST(ChannelSelection, WholeFloatsAreCheckedIfSomeAreBeyondInt16) {
    const auto high_of = [](std::vector<float> samples, int bits = 14) {
        const auto rails = rails_of(at::tensor(samples, at::kFloat).view({2, -1}), bits);
        return rails ? rails->high : -1;
    };
    EXPECT_EQ(high_of({5, 16383, 40'000, 0}), 16383);
    EXPECT_EQ(high_of({5, 16383, -32'769, 0}), 16383);
    EXPECT_EQ(high_of({5, 16383, 32'767, -32'768}), -1); // waveforms without a baseline
    EXPECT_EQ(high_of({5, 16383, 40'000, 0.5f}), -1);
    EXPECT_EQ(high_of({5, 16383, 40'000, std::numeric_limits<float>::quiet_NaN()}), -1);
    EXPECT_EQ(high_of({5, 16383, 40'000, 0}, 0), -1);
    EXPECT_EQ(high_of({}), -1);
}

TEST(RowScatter, RowsGoToTheirChannelsAndCoarseSamplesAreRepeated) {
    const at::Tensor fine = at::tensor({1.f, 2.f, 3.f, 4.f, 5.f}, at::kFloat).view({1, 1, 5});
    const at::Tensor coarse = at::tensor({6.f, 7.f}, at::kFloat).view({1, 1, 2});
    const at::Tensor frame = scatter_rows({{fine, ids({12}), 1}, {coarse, ids({10}), 2}}, {10, 11, 12}, 5);
    const at::Tensor expected =
        at::tensor({6.f, 6.f, 7.f, 7.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 1.f, 2.f, 3.f, 4.f, 5.f}, at::kFloat)
            .view({3, 5});
    EXPECT_TRUE(frame.equal(expected)) << frame;
}

TEST(RowScatter, MasksBecomeIntegers) {
    const at::Tensor mask = at::tensor({1, 0}, at::kInt).to(at::kBool).view({1, 1, 2});
    const at::Tensor frame = scatter_rows({{mask, ids({10}), 2}}, {10}, 4);
    EXPECT_EQ(frame.scalar_type(), at::kShort);
    EXPECT_TRUE(frame.equal(at::tensor({1, 1, 0, 0}, at::kShort).view({1, 4})));
}

} // namespace
} // namespace spng
