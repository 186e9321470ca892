// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/baseline.h"

#include "spng/core/error.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace spng {
namespace {

TEST(Baseline, LowerMedianOffAndZerosBehind) {
    // Sorted: -3 -3 7 8 900 and, for the even row, -5 2 4 6: the lower of the two middle samples is 2.
    const auto odd = at::tensor({7, -3, 900, 8, -3}, at::kShort).view({1, 5});
    const auto expected_odd = at::tensor({0, -10, 893, 1, -10, 0, 0}, at::kFloat).view({1, 7});
    EXPECT_TRUE(subtract_baseline_and_pad(odd, 7, at::kFloat).equal(expected_odd));
    EXPECT_TRUE(subtract_baseline_and_pad_composite(odd, 7, at::kFloat).equal(expected_odd));
    const auto even = at::tensor({6, 2, -5, 4}, at::kShort);
    EXPECT_TRUE(
        subtract_baseline_and_pad(even, 4, at::kDouble).equal(at::tensor({4, 0, -7, 2}, at::kDouble)));
    EXPECT_TRUE(subtract_baseline_and_pad_composite(even, 4, at::kDouble)
                    .equal(at::tensor({4, 0, -7, 2}, at::kDouble)));
}

TEST(Baseline, TheWholeRangeOfInt16) {
    const auto extremes = at::tensor({32767, -32768, -32768, 32767, 32767}, at::kShort);
    EXPECT_TRUE(subtract_baseline_and_pad(extremes, 5, at::kFloat)
                    .equal(at::tensor({0.f, -65535.f, -65535.f, 0.f, 0.f})));
    const auto lowest = at::full({2, 9}, -32768, at::kShort);
    EXPECT_TRUE(subtract_baseline_and_pad(lowest, 9, at::kFloat).equal(at::zeros({2, 9})));
}

TEST(Baseline, SamplesOfBothSignsAndVanishingOnes) {
    const auto row = at::tensor({-1e30, 3e-42, -3e-42, 0., -0., 2.5, -7.}, at::kFloat);
    // Sorted: -1e30 -7 -3e-42 0 0 3e-42 2.5, so the median is 0.
    EXPECT_TRUE(subtract_baseline_and_pad(row, 7, at::kFloat).equal(row));
    EXPECT_TRUE(subtract_baseline_and_pad(row.to(at::kDouble), 7, at::kDouble).equal(row.to(at::kDouble)));
}

TEST(Baseline, Float64IsSubtractedBeforeItIsRounded) {
    // All samples round to 1e9 in float32, but their differences are not 0.
    const auto row = at::tensor({1e9, 1e9 + 0.25, 1e9 - 0.5}, at::kDouble);
    const auto expected = at::tensor({0.f, 0.25f, -0.5f});
    EXPECT_TRUE(subtract_baseline_and_pad(row, 3, at::kFloat).equal(expected));
    EXPECT_TRUE(subtract_baseline_and_pad_composite(row, 3, at::kFloat).equal(expected));
}

TEST(Baseline, ChannelsThatAreNotGoodAreZero) {
    auto waveforms = at::randn({2, 3, 50});
    waveforms[0][1].fill_(std::numeric_limits<float>::quiet_NaN());
    waveforms[1][2].fill_(std::numeric_limits<float>::infinity());
    auto good = at::full({2, 3}, true, at::kBool);
    good[0][1] = false;
    good[1][2] = false;
    for (const auto& result : {subtract_baseline_and_pad(waveforms, 60, at::kFloat, good),
                               subtract_baseline_and_pad_composite(waveforms, 60, at::kFloat, good)}) {
        EXPECT_TRUE(result[0][1].equal(at::zeros({60})));
        EXPECT_TRUE(result[1][2].equal(at::zeros({60})));
        EXPECT_TRUE(result[0][0].equal(subtract_baseline_and_pad(waveforms[0][0], 60, at::kFloat)));
        EXPECT_GT(result[1][1].abs().max().item<float>(), 0);
    }
}

template <class Sample>
void expect_sorted_median(const at::Tensor& waveforms, at::ScalarType type) {
    const std::int64_t ticks = waveforms.size(-1);
    const auto result = subtract_baseline_and_pad(waveforms, ticks + 5, type);
    ASSERT_EQ(result.scalar_type(), type);
    const auto rows = waveforms.contiguous().view({-1, ticks});
    const auto flat = result.view({-1, ticks + 5});
    for (std::int64_t row = 0; row < rows.size(0); ++row) {
        const auto* samples = rows[row].const_data_ptr<Sample>();
        std::vector<Sample> sorted(samples, samples + ticks);
        std::sort(sorted.begin(), sorted.end());
        const double median = sorted[(ticks - 1) / 2];
        const auto expected = rows[row].to(at::kDouble).sub(median).to(type);
        ASSERT_TRUE(flat[row].narrow(0, 0, ticks).equal(expected))
            << "row " << row << " of " << ticks << " ticks";
        ASSERT_TRUE(flat[row].narrow(0, ticks, 5).eq(0).all().item<bool>());
    }
    EXPECT_TRUE(subtract_baseline_and_pad_composite(waveforms, ticks + 5, type).equal(result));
}

TEST(Baseline, RandomRowsAgreeWithASort) {
    at::manual_seed(5);
    // The last length is larger than the blocks in which the kernel counts.
    for (const std::int64_t ticks : {1, 2, 31, 500, 6000, 40000}) {
        expect_sorted_median<std::int16_t>(at::randint(-32768, 32768, {2, 3, ticks}, at::kShort), at::kFloat);
        expect_sorted_median<std::int16_t>(at::randint(2000, 2012, {2, 3, ticks}, at::kShort), at::kDouble);
        expect_sorted_median<float>(at::randn({2, 3, ticks}), at::kDouble);
        expect_sorted_median<float>(at::randint(-4, 4, {2, 3, ticks}).to(at::kFloat), at::kFloat);
        expect_sorted_median<double>(at::randn({2, 3, ticks}, at::kDouble), at::kDouble);
        expect_sorted_median<double>(at::randn({2, 3, ticks}, at::kDouble).mul(1e5), at::kFloat);
    }
}

TEST(Baseline, WaveformsNeedNotBeContiguousAndAreNotWritten) {
    const auto storage = at::randint(0, 100, {40, 6}, at::kShort);
    const auto copy = storage.clone();
    const auto result = subtract_baseline_and_pad(storage.t(), 40, at::kFloat);
    EXPECT_TRUE(result.equal(subtract_baseline_and_pad(storage.t().contiguous(), 40, at::kFloat)));
    EXPECT_TRUE(storage.equal(copy));
}

TEST(Baseline, OneThreadAndTwoGiveTheSameBits) {
    const auto waveforms = at::randn({33, 700});
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const auto one = subtract_baseline_and_pad(waveforms, 720, at::kFloat);
    at::set_num_threads(2);
    const auto two = subtract_baseline_and_pad(waveforms, 720, at::kFloat);
    at::set_num_threads(threads);
    EXPECT_TRUE(one.equal(two));
}

TEST(Baseline, NothingGivesNothing) {
    const auto no_ticks = at::zeros({2, 3, 0}, at::kShort);
    EXPECT_TRUE(subtract_baseline_and_pad(no_ticks, 4, at::kFloat).equal(at::zeros({2, 3, 4})));
    EXPECT_TRUE(subtract_baseline_and_pad_composite(no_ticks, 4, at::kFloat).equal(at::zeros({2, 3, 4})));
    EXPECT_EQ(subtract_baseline_and_pad(at::zeros({0, 7}), 8, at::kFloat).sizes(),
              (std::vector<std::int64_t>{0, 8}));
}

TEST(Baseline, WrongTensorsAreRejected) {
    const auto waveforms = at::zeros({2, 5});
    EXPECT_THROW(subtract_baseline_and_pad(waveforms, 4, at::kFloat), Error);
    EXPECT_THROW(subtract_baseline_and_pad(waveforms, 5, at::kHalf), Error);
    EXPECT_THROW(subtract_baseline_and_pad(waveforms.to(at::kInt), 5, at::kFloat), Error);
    EXPECT_THROW(subtract_baseline_and_pad(waveforms, 5, at::kFloat, at::zeros({3}, at::kBool)), Error);
    EXPECT_THROW(subtract_baseline_and_pad(waveforms, 5, at::kFloat, at::zeros({2})), Error);
    EXPECT_THROW(subtract_baseline_and_pad(at::Tensor(), 5, at::kFloat), Error);
}

} // namespace
} // namespace spng
