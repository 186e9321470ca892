// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/chirping.h"

#include "tests/core/nothing_waits.h"
#include "tests/support/components.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace spng::test {
namespace {

constexpr std::int64_t ticks = 2010; // 100 blocks and a rest of 10
constexpr double quiet = 0.4;        // counts, as in a real chirp

const ChirpingConfig rule{.max_rms = 0.9};

/// Noise of 3 counts, quiet in these ticks, as int16.
at::Tensor row_with(std::int64_t begin, std::int64_t end, double rms = 3) {
    auto row = at::randn({ticks}, at::kDouble);
    row.mul_(rms);
    row.slice(0, begin, end).mul_(quiet / rms);
    return (row + 2047).round().to(at::kShort).view({1, ticks});
}

std::pair<std::int64_t, std::int64_t> range_of(const at::Tensor& row) {
    at::Tensor seen;
    {
        const testing::NothingWaits watched;
        seen = chirping_ranges(row, at::ones({1}, at::kBool), rule);
    }
    EXPECT_EQ(seen.sizes(), at::IntArrayRef({1, 1, 2}));
    return {seen[0][0][0].item<std::int64_t>(), seen[0][0][1].item<std::int64_t>()};
}

TEST(Chirping, RangeIsThatOfTheQuietBlocksAndOneMoreOnEitherSide) {
    at::manual_seed(1);
    using Range = std::pair<std::int64_t, std::int64_t>;
    EXPECT_EQ(range_of(row_with(400, 900)), Range(380, 920));
    EXPECT_EQ(range_of(row_with(390, 915)), Range(380, 920)) << "parts of blocks are not quiet";
    EXPECT_EQ(range_of(row_with(0, 900)), Range(0, 920)) << "from the first tick";
    EXPECT_EQ(range_of(row_with(1500, ticks)), Range(1480, ticks)) << "the rest behind the last block";
    EXPECT_EQ(range_of(row_with(400, 500)), Range(380, 520)) << "one run of five blocks";
    EXPECT_EQ(range_of(row_with(400, 480)), Range(0, 0)) << "four blocks are no chirp";
    EXPECT_EQ(range_of(row_with(0, ticks)), Range(0, ticks)) << "all the time";
    auto dead = row_with(0, ticks);
    dead.slice(1, ticks - 12) += 40;
    EXPECT_EQ(range_of(dead), Range(0, ticks)) << "all the time but the last ticks";
    EXPECT_EQ(range_of(row_with(0, 0)), Range(0, 0));
}

TEST(Chirping, QuietChannelsDoNotChirp) {
    // Noise in which half of the blocks are quiet, as on the shortest wires: quiet blocks alternate with others.
    at::manual_seed(2);
    const auto rows = (at::randn({200, ticks}, at::kDouble) * 0.9 + 2047.3);
    const auto seen = chirping_ranges(rows, at::ones({200}, at::kBool), rule);
    EXPECT_FALSE(seen.any().item<bool>());
}

TEST(Chirping, ASignalBesideTheChirpStays) {
    at::manual_seed(3);
    auto row = row_with(0, 800);
    row.slice(1, 1000, 1030) += 300;
    EXPECT_EQ(range_of(row).second, 820);
}

TEST(Chirping, StraightLinesOverMaskedTicksAreNoChirpBetweenThem) {
    at::manual_seed(6);
    auto row = row_with(0, 120);
    row.slice(1, ticks - 120) = 2047;
    EXPECT_LE(range_of(row).second, 140);
    auto apart = row_with(400, 900);
    apart.slice(1, 1800, 1920) = 2047;
    EXPECT_EQ(range_of(apart), (std::pair<std::int64_t, std::int64_t>(380, 920))) << "the longest run";
}

TEST(Chirping, OnlyGoodChannelsAndLongReadouts) {
    at::manual_seed(4);
    const auto row = row_with(400, 900);
    EXPECT_FALSE(chirping_ranges(row, at::zeros({1}, at::kBool), rule).any().item<bool>());
    for (const std::int64_t length : {0, 19, 99}) {
        const auto part = row.slice(1, 400, 400 + length);
        EXPECT_FALSE(chirping_ranges(part, at::ones({1}, at::kBool), rule).any().item<bool>()) << length;
    }
    EXPECT_THROW(chirping_ranges(row.to(at::kInt), at::ones({1}, at::kBool), rule), Error);
    EXPECT_THROW(chirping_ranges(row, at::ones({2}, at::kBool), rule), Error);
}

TEST(Chirping, NodeBridgesListsAndDropsChannelsThatChirpAllTheTime) {
    Components components;
    auto& node = dynamic_cast<Node&>(components.add("SPNGChirping:test", {{"max_rms", 0.9}}));
    node.prepare(components.environment());
    at::manual_seed(5);
    NamedTensor waveforms;
    waveforms.name = "induction";
    waveforms.data = at::cat({row_with(0, 0), row_with(400, 900), row_with(0, ticks)}).unsqueeze(0);
    waveforms.axes = {{"view", "", 0, 1}, {"channel", "", 0, 1}, {"tick", "ns", 0, 512}};
    auto table = std::make_shared<ChannelTable>();
    table->good = at::ones({1, 3}, at::kBool);
    waveforms.channels = table;
    const auto outputs = node.call(
        0, {std::make_shared<const TensorSet>(std::make_shared<EventInfo>(), std::vector{waveforms})}, {});
    const NamedTensor& seen = outputs[0]->only();
    EXPECT_EQ(seen.data.scalar_type(), at::kFloat);
    EXPECT_TRUE(seen.data[0][0].equal(waveforms.data[0][0].to(at::kFloat)));
    const auto line = seen.data[0][1].slice(0, 379, 921);
    EXPECT_LT(
        (line.slice(0, 1) - line.slice(0, 0, -1) - (line[541] - line[0]) / 541).abs().max().item<float>(),
        1e-3);
    ASSERT_EQ(seen.channels->bad_ticks.size(), 1);
    EXPECT_EQ(seen.channels->bad_ticks[0].mask, "chirp");
    EXPECT_EQ(seen.channels->bad_ticks[0].period, 512);
    EXPECT_TRUE(seen.channels->good[0].equal(at::tensor({1, 1, 0}) > 0));
    EXPECT_TRUE(table->bad_ticks.empty()) << "the input is unchanged";
    EXPECT_EQ(error_of([&] { components.add("SPNGChirping:other", nlohmann::json::object()); }).text().where,
              "SPNGChirping:other");
}

} // namespace
} // namespace spng::test
