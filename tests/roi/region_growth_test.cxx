// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/region_growth.h"

#include "spng/core/error.h"
#include "spng/core/rows/bit_ticks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace spng {
namespace {

/// Return one row from text: "x" is set.
at::Tensor row_of(const std::string& ticks) {
    auto row = at::zeros({static_cast<std::int64_t>(ticks.size())}, at::kBool);
    for (std::size_t tick = 0; tick < ticks.size(); ++tick) {
        row[static_cast<std::int64_t>(tick)] = ticks[tick] == 'x';
    }
    return row;
}

std::string to_string(const at::Tensor& row) {
    std::string ticks;
    for (std::int64_t tick = 0; tick < row.size(0); ++tick) {
        ticks += row[tick].item<bool>() ? 'x' : '.';
    }
    return ticks;
}

struct Case {
    const char* seeds;
    const char* level;
    std::int64_t before;
    std::int64_t after;
    const char* regions;
};

class RegionGrowth : public ::testing::TestWithParam<Case> {};

TEST_P(RegionGrowth, GivesTheRegionsAsWritten) {
    const Case& example = GetParam();
    const auto seeds = row_of(example.seeds);
    const auto level = row_of(example.level);
    EXPECT_EQ(to_string(grow_regions(seeds, level, example.before, example.after)), example.regions);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, RegionGrowth,
    ::testing::Values(Case{"....x......",       //
                           "..xxxx..xx.", 0, 0, //
                           "..xxxx....."},
                      // A seed outside the level joins two runs.
                      Case{"....x......",       //
                           "..xx.x.....", 0, 0, //
                           "..xxxx....."},
                      // Several seeds in one run, and none in the run at the end of the row.
                      Case{".x..x......",       //
                           "xxxxxx..xxx", 0, 0, //
                           "xxxxxx....."},
                      Case{"x.........x",       //
                           "...........", 0, 0, //
                           "x.........x"},
                      // Padding stops at the ends of the row and does not keep runs without a seed.
                      Case{".x......x..",       //
                           "...xx......", 2, 1, //
                           "xxx...xxxx."},
                      Case{".x.......x.",       //
                           "...........", 0, 3, //
                           ".xxxx....xx"},
                      Case{".x.......x.",        //
                           "...........", 20, 0, //
                           "xxxxxxxxxx."},
                      Case{"...........",       //
                           "xxxxxxxxxxx", 2, 2, //
                           "..........."}));

at::Tensor naive_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t before,
                         std::int64_t after) {
    const std::int64_t ticks = seeds.size(1);
    auto result = at::zeros(seeds.sizes(), at::kBool);
    auto out = result.accessor<bool, 2>();
    const auto seed = seeds.accessor<bool, 2>();
    const auto open = level.accessor<bool, 2>();
    for (std::int64_t row = 0; row < seeds.size(0); ++row) {
        for (std::int64_t tick = 0; tick < ticks; ++tick) {
            if (!seed[row][tick]) {
                continue;
            }
            std::int64_t first = tick;
            while (first > 0 && (open[row][first - 1] || seed[row][first - 1])) {
                --first;
            }
            std::int64_t last = tick;
            while (last + 1 < ticks && (open[row][last + 1] || seed[row][last + 1])) {
                ++last;
            }
            for (std::int64_t k = std::max<std::int64_t>(0, first - before);
                 k <= std::min(ticks - 1, last + after); ++k) {
                out[row][k] = true;
            }
        }
    }
    return result;
}

TEST(RegionGrowthOperator, RandomMasksAgreeWithWalkingFromEverySeed) {
    at::manual_seed(21);
    for (const std::int64_t ticks : {1, 63, 64, 65, 300}) {
        for (const double density : {0.02, 0.5, 0.95}) {
            const auto seeds = at::rand({40, ticks}).lt(0.03);
            const auto level = at::rand({40, ticks}).lt(density);
            const auto regions = grow_regions(seeds, level, 2, 5);
            EXPECT_TRUE(regions.equal(naive_regions(seeds, level, 2, 5))) << ticks << " ticks at " << density;
        }
    }
}

TEST(RegionGrowthOperator, KeepsViewsApartAndDoesNotDependOnThreads) {
    const auto seeds = at::rand({2, 40, 130}).lt(0.05);
    const auto level = at::rand({2, 40, 130}).lt(0.6);
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const auto one = grow_regions(seeds, level, 1, 1);
    at::set_num_threads(2);
    EXPECT_TRUE(grow_regions(seeds, level, 1, 1).equal(one));
    at::set_num_threads(threads);
    EXPECT_TRUE(one[1].equal(naive_regions(seeds[1], level[1], 1, 1)));
}

TEST(RegionGrowthOperator, NothingGivesNothingAndWrongMasksAreRejected) {
    const auto none = at::zeros({3, 0}, at::kBool);
    EXPECT_EQ(grow_regions(none, none, 2, 2).sizes(), (std::vector<std::int64_t>{3, 0}));
    const auto mask = at::zeros({3, 4}, at::kBool);
    EXPECT_THROW(grow_regions(mask, none, 0, 0), Error);
    EXPECT_THROW(grow_regions(mask, mask.to(at::kFloat), 0, 0), Error);
    EXPECT_THROW(grow_regions(mask, mask, -1, 0), Error);
    EXPECT_THROW(grow_regions(mask, mask, 0, -1), Error);
}

TEST(UpsampleMask, RepeatsEveryTick) {
    EXPECT_EQ(to_string(upsample_mask(row_of("x.xx"), 3)), "xxx...xxxxxx");
    EXPECT_EQ(to_string(upsample_mask(row_of("x.xx"), 1)), "x.xx");
    EXPECT_EQ(upsample_mask(at::zeros({2, 5, 7}, at::kBool), 4).sizes(),
              (std::vector<std::int64_t>{2, 5, 28}));
    EXPECT_EQ(upsample_mask(at::zeros({2, 0}, at::kBool), 4).sizes(), (std::vector<std::int64_t>{2, 0}));
    EXPECT_THROW(upsample_mask(row_of("x."), 0), Error);
    EXPECT_THROW(upsample_mask(at::zeros({4}), 2), Error);
}

} // namespace
} // namespace spng
