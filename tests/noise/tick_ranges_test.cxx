// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/tick_ranges.h"

#include "spng/core/error.h"
#include "tests/core/nothing_waits.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace spng {
namespace {

using Ranges = std::vector<std::array<std::int32_t, 2>>;

Ranges ranges_in(const at::Tensor& row) {
    Ranges found;
    for (std::int64_t i = 0; i < row.size(0); ++i) {
        const std::array own{row[i][0].item<std::int32_t>(), row[i][1].item<std::int32_t>()};
        if (own[0] < own[1]) {
            found.push_back(own);
        }
    }
    return found;
}

TEST(TickRanges, AreThoseOfALoop) {
    constexpr std::int64_t rows = 30, ticks = 40, count = 3;
    at::manual_seed(1);
    const auto flags =
        at::rand({rows, ticks}) > at::arange(rows).unsqueeze(1) / static_cast<double>(rows - 1);
    at::Tensor seen;
    {
        const testing::NothingWaits watched;
        seen = ranges_of(flags, count);
    }
    EXPECT_EQ(seen.scalar_type(), at::kInt);
    for (std::int64_t row = 0; row < rows; ++row) {
        Ranges expected;
        for (std::int32_t tick = 0; tick < ticks; ++tick) {
            if (!flags[row][tick].item<bool>()) {
                continue;
            }
            const bool continues = tick > 0 && flags[row][tick - 1].item<bool>();
            if (continues || expected.size() == count) {
                expected.back()[1] = tick + 1;
            } else {
                expected.push_back({tick, tick + 1});
            }
        }
        EXPECT_EQ(ranges_in(seen[row]), expected) << row;
    }
}

TEST(TickRanges, InnerRangesBecomeLinesAndOuterOnesTheMedian) {
    const auto row = at::tensor({9., 9., 2., 4., 50., 60., 70., 8., 3., 77.}, at::kDouble);
    const auto ranges = at::tensor({0, 2, 4, 7, 9, 10}, at::kInt).view({1, 3, 2});
    for (const bool picks : {true, false}) {
        const auto seen = bridge_ranges(row.view({1, 10}), ranges, picks);
        // Median of 2, 4, 8, 3 with the lower rank.
        const auto expected = at::tensor({3., 3., 2., 4., 5., 6., 7., 8., 3., 3.}, at::kDouble).view({1, 10});
        EXPECT_TRUE(seen.equal(expected)) << seen;
        const auto whole = at::tensor({0, 10}, at::kInt).view({1, 1, 2});
        EXPECT_TRUE(bridge_ranges(row.view({1, 10}), whole, picks).equal(row.view({1, 10})));
    }
}

TEST(TickRanges, RowsWithoutRangesKeepTheirBits) {
    at::manual_seed(2);
    const auto rows = at::randn({2, 3, 50});
    auto ranges = at::zeros({2, 3, 2, 2}, at::kInt);
    ranges[1][2] = at::tensor({10, 20, 50, 50}, at::kInt).view({2, 2});
    const auto picked = bridge_ranges(rows, ranges, true);
    at::Tensor all;
    {
        const testing::NothingWaits watched;
        all = bridge_ranges(rows, ranges, false);
    }
    EXPECT_TRUE(picked.equal(all));
    EXPECT_TRUE(picked.view({6, 50}).narrow(0, 0, 5).equal(rows.view({6, 50}).narrow(0, 0, 5)));
    EXPECT_TRUE(picked[1][2].slice(0, 20).equal(rows[1][2].slice(0, 20)));
    EXPECT_FALSE(picked[1][2].slice(0, 10, 20).equal(rows[1][2].slice(0, 10, 20)));
}

TEST(TickRanges, BadTicksOfSeveralStepsAreBridged) {
    ChannelTable table;
    const auto row = at::arange(20, at::kFloat).view({1, 1, 20}).square();
    EXPECT_TRUE(bridge_bad_ticks(row, found_bad_ticks(table)).is_same(row));
    table.bad_ticks.push_back({"chirp", 500, at::tensor({2, 4}, at::kInt).view({1, 1, 1, 2})});
    table.bad_ticks.push_back({"femb_noise", 500, at::tensor({10, 11}, at::kInt).view({1, 1, 1, 2})});
    const auto seen = bridge_bad_ticks(row, found_bad_ticks(table)).view({20});
    EXPECT_EQ(seen[2].item<float>(), 6);
    EXPECT_EQ(seen[3].item<float>(), 11);
    EXPECT_EQ(seen[10].item<float>(), 101);
    // Ranges that overlap become one line.
    table.bad_ticks.push_back({"femb_noise", 500, at::tensor({3, 6}, at::kInt).view({1, 1, 1, 2})});
    EXPECT_EQ(found_bad_ticks(table).sizes(), at::IntArrayRef({1, 1, 3, 2}));
    const auto joined = bridge_bad_ticks(row, found_bad_ticks(table)).view({20});
    for (std::int64_t tick = 1; tick <= 6; ++tick) {
        EXPECT_EQ(joined[tick].item<float>(), 1 + 7 * static_cast<float>(tick - 1));
    }
}

TEST(TickRanges, WrongArgumentsAreRejected) {
    const auto rows = at::zeros({2, 8});
    EXPECT_THROW(ranges_of(rows, 1), Error);
    EXPECT_THROW(ranges_of(rows > 0, 9), Error);
    EXPECT_THROW(bridge_ranges(rows, at::zeros({3, 1, 2}, at::kInt), true), Error);
    EXPECT_THROW(bridge_ranges(rows.to(at::kShort), at::zeros({2, 1, 2}, at::kInt), true), Error);
}

} // namespace
} // namespace spng
