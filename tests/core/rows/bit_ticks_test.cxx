// SPDX-License-Identifier: Apache-2.0
#include "spng/core/rows/bit_ticks.h"

#include "spng/core/error.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

namespace spng {
namespace {

TEST(BitTicks, TicksAreBitsInLittleEndianOrder) {
    auto mask = at::zeros({2, 70}, at::kBool);
    for (const auto tick : {0, 1, 5, 63, 64, 69}) {
        mask[0][tick] = true;
    }
    mask[1][62] = true;
    const std::int64_t first = 0b100011 + std::numeric_limits<std::int64_t>::min();
    const auto expected =
        at::tensor({first, std::int64_t{0b100001}, std::int64_t{1} << 62, std::int64_t{0}}, at::kLong)
            .view({2, 2});
    EXPECT_TRUE(pack_ticks(mask).equal(expected));
    EXPECT_TRUE(unpack_ticks(expected, 70).equal(mask));
}

class BitTicksLength : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(BitTicksLength, EveryTickComesBackAndTheTailIsZero) {
    const std::int64_t ticks = GetParam();
    const auto mask = at::rand({2, 37, ticks}).lt(0.4);
    const auto packed = pack_ticks(mask);
    ASSERT_EQ(packed.sizes(), (std::vector<std::int64_t>{2, 37, (ticks + 63) / 64}));
    for (std::int64_t word = 0; word < packed.size(-1); ++word) {
        for (std::int64_t bit = 0; bit < 64; ++bit) {
            const std::int64_t tick = 64 * word + bit;
            const auto seen = packed.select(-1, word).bitwise_right_shift(bit).bitwise_and(1).to(at::kBool);
            const auto expected = tick < ticks ? mask.select(-1, tick) : at::zeros({2, 37}, at::kBool);
            ASSERT_TRUE(seen.equal(expected)) << "tick " << tick;
        }
    }
    EXPECT_TRUE(unpack_ticks(packed, ticks).equal(mask));
}

INSTANTIATE_TEST_SUITE_P(Lengths, BitTicksLength, ::testing::Values(1, 7, 63, 64, 65, 128, 150));

TEST(BitTicks, ViewsThatAreNotContiguousArePackedAsSeen) {
    const auto mask = at::rand({70, 5}).lt(0.5).t();
    EXPECT_TRUE(unpack_ticks(pack_ticks(mask), 70).equal(mask));
}

TEST(BitTicks, NothingGivesNothing) {
    EXPECT_EQ(pack_ticks(at::zeros({3, 0}, at::kBool)).sizes(), (std::vector<std::int64_t>{3, 0}));
    EXPECT_EQ(pack_ticks(at::zeros({0, 65}, at::kBool)).sizes(), (std::vector<std::int64_t>{0, 2}));
    EXPECT_EQ(unpack_ticks(at::zeros({3, 0}, at::kLong), 0).sizes(), (std::vector<std::int64_t>{3, 0}));
    EXPECT_EQ(unpack_ticks(at::zeros({0, 2}, at::kLong), 65).sizes(), (std::vector<std::int64_t>{0, 65}));
}

TEST(BitTicks, WrongTensorsAreRejectedInWords) {
    EXPECT_THROW(pack_ticks(at::zeros({3, 4})), Error);
    EXPECT_THROW(pack_ticks(at::Tensor()), Error);
    EXPECT_THROW(unpack_ticks(at::zeros({3, 2}, at::kLong), 64), Error);
    EXPECT_THROW(unpack_ticks(at::zeros({3, 2}, at::kInt), 128), Error);
    EXPECT_THROW(unpack_ticks(at::zeros({3, 0}, at::kLong), -1), Error);
    try {
        pack_ticks(at::zeros({3, 4}));
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Internal);
        EXPECT_EQ(error.text().seen, "float32 (3, 4) cpu");
        EXPECT_EQ(error.text().expected, "bool (..., row, tick)");
    }
}

} // namespace
} // namespace spng
