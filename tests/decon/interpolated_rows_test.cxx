// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/interpolated_rows.h"

#include "spng/core/error.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/real.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <vector>

namespace spng {
namespace {

/// A view of eight channels c with c^2 (1 + 10 i) and twice that.
at::Tensor spectrum() {
    const auto channel = at::arange(8, at::kDouble).mul(at::arange(8, at::kDouble)).unsqueeze(1);
    const auto real = channel * at::tensor({1.0, 2.0}, at::kDouble);
    return at::complex(real, 10 * real).unsqueeze(0);
}

at::Tensor flags(const std::vector<int>& bad) {
    at::Tensor good = at::ones({1, 8}, at::kBool);
    for (const int channel : bad) {
        good[0][channel] = false;
    }
    return good;
}

/// Return the real part of the first frequency of all channels.
std::vector<double> seen(const at::Tensor& spectrum) {
    const auto values = at::real(spectrum.select(2, 0)).flatten().contiguous();
    return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

TEST(InterpolatedRows, AreTheMeanOfBothNeighbours) {
    const auto given = spectrum();
    interpolate_rows(given, flags({2, 5}), false);
    EXPECT_EQ(seen(given), (std::vector<double>{0, 1, 5, 9, 16, 26, 36, 49}));
    EXPECT_TRUE(given[0][2].equal(spectrum()[0][1].add(spectrum()[0][3]).mul(0.5)));
}

TEST(InterpolatedRows, NeedTwoGoodNeighbours) {
    const auto given = spectrum();
    interpolate_rows(given, flags({2, 3, 6, 7}), false);
    EXPECT_TRUE(given.equal(spectrum()));
    interpolate_rows(given, flags({0, 7}), true);
    EXPECT_TRUE(given.equal(spectrum()));
}

TEST(InterpolatedRows, LookAcrossTheWrapOnlyOfCyclicViews) {
    for (const bool cyclic : {false, true}) {
        const auto given = spectrum();
        interpolate_rows(given, flags({0}), cyclic);
        EXPECT_EQ(seen(given)[0], cyclic ? 25 : 0);
    }
    const auto given = spectrum();
    interpolate_rows(given, flags({7}), true);
    EXPECT_EQ(seen(given)[7], 18);
}

TEST(InterpolatedRows, RejectOtherShapesAndTypes) {
    EXPECT_THROW(interpolate_rows(at::real(spectrum()), flags({}), true), Error);
    EXPECT_THROW(interpolate_rows(spectrum(), flags({}).to(at::kLong), true), Error);
    EXPECT_THROW(interpolate_rows(spectrum(), flags({}).squeeze(0), true), Error);
}

} // namespace
} // namespace spng
