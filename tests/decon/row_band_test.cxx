// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/row_band.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <vector>

namespace spng {
namespace {

constexpr std::int64_t rows = 100, margin = 10;

/// Two views, with good channels in some rows of the second one.
ChannelTable table(const std::vector<std::int64_t>& good) {
    ChannelTable channels;
    channels.ids = at::arange(2 * rows, at::kInt).view({2, rows});
    channels.good = at::zeros({2, rows}, at::kBool);
    for (const std::int64_t row : good) {
        channels.good[1][row] = true;
    }
    return channels;
}

void expect_band(const ChannelTable& channels, std::int64_t first, std::int64_t count) {
    const RowBand band = row_band(channels, margin);
    EXPECT_EQ(band.first, first);
    EXPECT_EQ(band.count, count);
}

TEST(RowBand, HasTheGoodRowsAndAMargin) {
    expect_band(table({40}), 30, 21);
    expect_band(table({40, 60}), 30, 41);
    expect_band(table({3}), 0, 14);
    expect_band(table({95, 99}), 85, 15);
}

TEST(RowBand, IsTheWholeGroupIfItHasMoreThanHalfOfIt) {
    expect_band(table({30, 59}), 20, 50);
    expect_band(table({30, 60}), 0, rows);
    expect_band(table({0, 99}), 0, rows);
}

TEST(RowBand, OfNothingIsSmall) {
    expect_band(table({}), 0, 21);
}

TEST(RowBand, HasChannelsWithAFaultSoThatTheirMaskIsWritten) {
    ChannelTable channels = table({40});
    channels.fault = at::zeros({2, rows}, at::kByte);
    channels.fault[0][50] = 1;
    expect_band(channels, 30, 31);
    const auto ticks = at::zeros({2, rows, 3, 2}, at::kInt);
    channels.bad_ticks.push_back({"chirp", 500, ticks});
    expect_band(channels, 30, 31);
    ticks[1][55][2][1] = 8;
    expect_band(channels, 30, 36);
}

TEST(RowBand, ChannelsOfABandKnowTheirRow) {
    const ChannelTable whole = table({40});
    const auto narrowed = channels_of_band(*channels_of_band(whole, {20, 60}), {10, 21});
    EXPECT_EQ(narrowed->first_row, 30);
    EXPECT_TRUE(narrowed->ids.equal(whole.ids.narrow(1, 30, 21)));
    EXPECT_TRUE(narrowed->good.equal(whole.good.narrow(1, 30, 21)));
    EXPECT_FALSE(narrowed->fault.defined());
}

} // namespace
} // namespace spng
