// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/coincidence.h"

#include "spng/core/error.h"
#include "spng/core/rows/bit_ticks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <vector>

namespace spng {
namespace {

at::Tensor int32_tensor(const std::vector<std::int32_t>& values, at::IntArrayRef shape) {
    return at::tensor(values, at::kInt).view(shape);
}

/// Return the mask of rows given as text: "x" is a hit.
at::Tensor mask_of(const std::vector<std::string>& rows) {
    auto mask = at::zeros({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows[0].size())},
                          at::kBool);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t tick = 0; tick < rows[row].size(); ++tick) {
            mask[row][tick] = rows[row][tick] == 'x';
        }
    }
    return mask;
}

TEST(Coincidence, CrossingsOfAHandMadePlane) {
    // Target 0 has cells (a, c) and (b, c), target 1 none, target 2 the cell (a, d).
    const auto masks = mask_of({"xx...x", //
                                "..x..x", //
                                "x.x...", //
                                ".x..xx"});
    const auto table = make_coincidence_table(int32_tensor({0, 2, 2, 3}, {4}), //
                                              int32_tensor({0, 2, 1, 2, 0, 3}, {3, 2}), 4);
    EXPECT_EQ(table.targets(), 3);
    EXPECT_EQ(table.max_cells, 2);
    const auto expected = mask_of({"x.x...", //
                                   "......", //
                                   ".x...x"});
    const auto packed = pack_ticks(masks);
    EXPECT_TRUE(unpack_ticks(coincidence(packed, table), 6).equal(expected));
}

TEST(Coincidence, TheFourProductsOfAHandMadeMask) {
    const auto mask = pack_ticks(mask_of({"xx..x"}));
    const auto crossing = pack_ticks(mask_of({"x.x.x"}));
    const auto products = multi_plane(mask, crossing, 5, {0, 1, 2, 3});
    ASSERT_EQ(products.sizes(), (std::vector<std::int64_t>{4, 1, 1}));
    EXPECT_TRUE(unpack_ticks(products, 5).flatten(0, 1).equal(mask_of({"...x.", ".x...", "..x..", "x...x"})));
    // Bits past the last tick stay 0, also where both masks are complemented.
    EXPECT_EQ(products[0].item<std::int64_t>(), 0b01000);
    EXPECT_TRUE(multi_plane(mask, crossing, 5, {2, 0})
                    .equal(products.index_select(0, at::tensor({2, 0}, at::kLong))));
}

TEST(Coincidence, ProductsAreTheirDefinitionsOnAnyLength) {
    for (const std::int64_t ticks : {1, 63, 64, 65, 200}) {
        const auto mask = at::rand({11, ticks}).lt(0.5);
        const auto crossing = at::rand({11, ticks}).lt(0.5);
        const std::vector<std::int64_t> all = {3, 2, 1, 0};
        const auto packed = multi_plane(pack_ticks(mask), pack_ticks(crossing), ticks, all);
        EXPECT_TRUE(packed.equal(pack_ticks(unpack_ticks(packed, ticks)))) << "a tail bit is set";
        const auto products = unpack_ticks(packed, ticks);
        EXPECT_TRUE(products[0].equal(mask.logical_and(crossing)));
        EXPECT_TRUE(products[1].equal(mask.logical_not().logical_and(crossing)));
        EXPECT_TRUE(products[2].equal(mask.logical_and(crossing.logical_not())));
        EXPECT_TRUE(products[3].equal(mask.logical_or(crossing).logical_not()));
    }
}

/// X by the definition, cell by cell and tick by tick.
at::Tensor naive_crossing(const at::Tensor& masks, const CoincidenceTable& table) {
    const auto hit = masks.accessor<bool, 2>();
    const auto offsets = table.offsets.accessor<std::int32_t, 1>();
    const auto pairs = table.pairs.accessor<std::int32_t, 2>();
    auto crossing = at::zeros({table.targets(), masks.size(1)}, at::kBool);
    auto out = crossing.accessor<bool, 2>();
    for (std::int64_t target = 0; target < table.targets(); ++target) {
        for (std::int64_t cell = offsets[target]; cell < offsets[target + 1]; ++cell) {
            for (std::int64_t tick = 0; tick < masks.size(1); ++tick) {
                out[target][tick] |= hit[pairs[cell][0]][tick] && hit[pairs[cell][1]][tick];
            }
        }
    }
    return crossing;
}

TEST(Coincidence, RandomTablesAgreeWithTheTripleLoop) {
    at::manual_seed(3);
    // Word counts that use every width of the kernel: 24, 4 and single words.
    for (const std::int64_t ticks : {40, 64 * 24, 64 * 24 + 1, 64 * 33 + 5}) {
        const auto masks = at::rand({50, ticks}).lt(0.2);
        auto cells = at::randint(0, 9, {30}, at::kInt);
        cells[0] = 0;
        cells[7] = 0;
        const auto offsets = cells.cumsum(0, at::kInt);
        const auto pairs = at::randint(0, 50, {offsets[-1].item<std::int32_t>(), 2}, at::kInt);
        const auto table = make_coincidence_table(offsets, pairs, 50);
        const auto packed = pack_ticks(masks);
        const auto crossing = coincidence(packed, table);
        EXPECT_TRUE(unpack_ticks(crossing, ticks).equal(naive_crossing(masks, table)));
    }
}

TEST(Coincidence, NeighboursAddTheirTicks) {
    const auto packed = pack_ticks(mask_of({"x....", ".x...", "..x..", "...x."}));
    // A chain of three and a row on its own; row 1 has two neighbours.
    const auto neighbours = int32_tensor({1, -1, 0, 2, -1, 1, -1, -1}, {4, 2});
    const auto expected = mask_of({"xx...", "xxx..", ".xx..", "...x."});
    // MP2 of an empty mask is the crossing.
    const auto none = at::zeros_like(packed);
    EXPECT_TRUE(unpack_ticks(multi_plane(none, packed, 5, {2}, neighbours)[0], 5).equal(expected));
    EXPECT_TRUE(unpack_ticks(packed, 5).equal(mask_of({"x....", ".x...", "..x..", "...x."})))
        << "input was written";
}

TEST(Coincidence, OneThreadAndTwoGiveTheSameBits) {
    const auto packed = at::randint(std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max(), {60, 24}, at::kLong)
                            .bitwise_and(at::randint(0, 1 << 30, {60, 24}, at::kLong));
    const auto offsets = at::full({41}, 7, at::kInt).cumsum(0, at::kInt).sub(7);
    const auto table =
        make_coincidence_table(offsets.to(at::kInt), at::randint(0, 60, {280, 2}, at::kInt), 60);
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const auto one = coincidence(packed, table);
    at::set_num_threads(2);
    const auto two = coincidence(packed, table);
    at::set_num_threads(threads);
    EXPECT_TRUE(one.equal(two));
}

TEST(Coincidence, NothingGivesNothing) {
    const auto none = make_coincidence_table(int32_tensor({0}, {1}), at::zeros({0, 2}, at::kInt), 3);
    EXPECT_EQ(coincidence(at::zeros({3, 2}, at::kLong), none).sizes(), (std::vector<std::int64_t>{0, 2}));
    const auto no_cells =
        make_coincidence_table(int32_tensor({0, 0, 0}, {3}), at::zeros({0, 2}, at::kInt), 3);
    EXPECT_TRUE(coincidence(at::full({3, 2}, -1, at::kLong), no_cells).equal(at::zeros({2, 2}, at::kLong)));
    EXPECT_EQ(coincidence(at::zeros({3, 0}, at::kLong), no_cells).sizes(), (std::vector<std::int64_t>{2, 0}));
    const auto no_ticks = at::zeros({2, 0}, at::kLong);
    EXPECT_EQ(multi_plane(no_ticks, no_ticks, 0, {2, 3}).sizes(), (std::vector<std::int64_t>{2, 2, 0}));
    EXPECT_EQ(multi_plane(no_ticks, no_ticks, 0, {}).sizes(), (std::vector<std::int64_t>{0, 2, 0}));
}

TEST(Coincidence, BrokenTablesAreRejected) {
    const auto pairs = int32_tensor({0, 1, 1, 2}, {2, 2});
    EXPECT_NO_THROW(make_coincidence_table(int32_tensor({0, 1, 2}, {3}), pairs, 3));
    EXPECT_THROW(make_coincidence_table(int32_tensor({0, 1, 2}, {3}), pairs, 2), Error) << "row 2 of 2 rows";
    EXPECT_THROW(make_coincidence_table(int32_tensor({0, 1, 3}, {3}), pairs, 3), Error)
        << "three of two cells";
    EXPECT_THROW(make_coincidence_table(int32_tensor({0, 2, 1, 2}, {4}), pairs, 3), Error) << "offsets fall";
    EXPECT_THROW(make_coincidence_table(int32_tensor({1, 2}, {2}), pairs, 3), Error) << "first cell unused";
    EXPECT_THROW(make_coincidence_table(int32_tensor({0, 1, 2}, {3}), pairs.neg(), 3), Error)
        << "negative row";
    EXPECT_THROW(make_coincidence_table(int32_tensor({0, 1, 2}, {3}).to(at::kLong), pairs, 3), Error);
}

TEST(Coincidence, MasksThatDoNotFitAreRejected) {
    const auto table = make_coincidence_table(int32_tensor({0, 1}, {2}), int32_tensor({0, 1}, {1, 2}), 2);
    EXPECT_THROW(coincidence(at::zeros({3, 1}, at::kLong), table), Error);
    EXPECT_THROW(coincidence(at::zeros({2, 1}, at::kInt), table), Error);
    const auto words = at::zeros({2, 1}, at::kLong);
    EXPECT_THROW(multi_plane(words, words, 10, {3}, at::zeros({3, 1}, at::kInt)), Error);
    EXPECT_THROW(multi_plane(words, words, 10, {3}, at::zeros({2, 1}, at::kLong)), Error);
    EXPECT_THROW(multi_plane(words, at::zeros({1, 1}, at::kLong), 10, {3}), Error);
    EXPECT_THROW(multi_plane(words, words, 65, {3}), Error);
    EXPECT_THROW(multi_plane(words, words, 10, {4}), Error);
}

} // namespace
} // namespace spng
