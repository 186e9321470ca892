// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/roi_features.h"

#include "spng/core/error.h"
#include "spng/core/rows/bit_ticks.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

namespace spng {
namespace {

TEST(StackFeatures, OnlyTheChargeImageIsScaled) {
    const auto charge = at::tensor({0.0, 4000.0, -2000.0, 1000.0}, at::kDouble).view({1, 2, 2});
    const auto mask = at::tensor({1, 0, 1, 1}).to(at::kBool).view({1, 2, 2});
    const auto other = at::tensor({0, 0, 0, 1}).to(at::kBool).view({1, 2, 2});
    const auto stacked = stack_features({charge, pack_ticks(mask), pack_ticks(other)}, 2, 1.0 / 4000, 0);
    const auto expected =
        at::tensor({0.F, 1.F, -.5F, .25F, 1.F, 0.F, 1.F, 1.F, 0.F, 0.F, 0.F, 1.F}).view({1, 3, 2, 2});
    EXPECT_EQ(stacked.scalar_type(), at::kFloat);
    EXPECT_TRUE(at::equal(stacked, expected)) << stacked;
    EXPECT_EQ(charge[0][0][1].item<double>(), 4000.0) << "the input was changed";
}

TEST(StackFeatures, OffsetComesAfterTheScale) {
    const auto charge = at::tensor({8.F, 16.F}).view({1, 1, 2});
    const auto mask = at::tensor({1, 0}).to(at::kBool).view({1, 1, 2});
    const auto stacked = stack_features({pack_ticks(mask), charge}, 2, 0.25, 100);
    EXPECT_TRUE(at::equal(stacked, at::tensor({1.F, 0.F, 102.F, 104.F}).view({1, 2, 1, 2}))) << stacked;
}

TEST(StackFeatures, DivisorAppliesToChargeByChannel) {
    const auto charge = at::tensor({8.F, 16.F, 8.F, 16.F}).view({1, 2, 2});
    const auto mask = at::tensor({1, 0, 1, 1}).to(at::kBool).view({1, 2, 2});
    const auto divisor = at::tensor({1.0, 4.0}, at::kDouble).view({1, 1, 2});
    const auto stacked = stack_features({charge, pack_ticks(mask)}, 2, 0.25, 100, divisor);
    const auto expected = at::tensor({102.F, 104.F, 100.5F, 101.F, 1.F, 0.F, 1.F, 1.F}).view({1, 2, 2, 2});
    EXPECT_TRUE(at::equal(stacked, expected)) << stacked;
}

TEST(StackFeatures, ADivisorOfOneChangesNoBit) {
    for (const auto type : {at::kFloat, at::kDouble}) {
        const auto charge = at::tensor({1.1, 1e-3, -7.3e5, 0.3}, at::kDouble).to(type).view({1, 2, 2});
        const auto one = at::ones({1, 1, 2}, type);
        EXPECT_TRUE(at::equal(stack_features({charge}, 2, 1.0 / 4000, 0, one),
                              stack_features({charge}, 2, 1.0 / 4000, 0)));
    }
}

TEST(StackFeatures, RejectsImagesOfOtherSizes) {
    const auto image = at::zeros({1, 2, 4});
    EXPECT_THROW(stack_features({image, at::zeros({1, 2, 5})}, 4, 1, 0), Error);
    EXPECT_THROW(stack_features({image}, 5, 1, 0), Error);
    EXPECT_THROW(stack_features({image, at::zeros({1, 2, 2}, at::kLong)}, 4, 1, 0), Error);
    EXPECT_THROW(stack_features({image, at::zeros({1, 3, 1}, at::kLong)}, 4, 1, 0), Error);
    EXPECT_THROW(stack_features({at::zeros({2, 4})}, 4, 1, 0), Error);
    EXPECT_THROW(stack_features({at::zeros({1, 2, 4}, at::kInt)}, 4, 1, 0), Error);
    EXPECT_THROW(stack_features({image}, 4, 1, 0, at::zeros({1, 1, 3})), Error);
    EXPECT_THROW(stack_features({}, 4, 1, 0), Error);
}

TEST(ProbableRegions, StrictlyAboveAndNeverOnBadChannels) {
    const float above = 0.5F + std::numeric_limits<float>::epsilon();
    const auto probability = at::tensor({0.5F, above, 0.F, 1.F, 1.F, 1.F}).view({1, 2, 3});
    const auto good = at::tensor({1, 0}).to(at::kBool).view({1, 2});
    const auto expected = at::tensor({0, 1, 0, 0, 0, 0}).to(at::kBool).view({1, 2, 3});
    EXPECT_TRUE(at::equal(unpack_ticks(probable_regions(probability, 0.5, good), 3), expected));
    const auto without = at::tensor({0, 1, 0, 1, 1, 1}).to(at::kBool).view({1, 2, 3});
    EXPECT_TRUE(at::equal(unpack_ticks(probable_regions(probability, 0.5, {}), 3), without));
}

} // namespace
} // namespace spng
