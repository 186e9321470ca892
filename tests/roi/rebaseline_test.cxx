// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/rebaseline.h"

#include "spng/core/error.h"
#include "spng/nodes/coincidence/bit_ticks.h"
#include "tests/core/device_composite.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace spng {
namespace {

at::Tensor mask_of(const std::vector<int>& slices) {
    return at::tensor(slices, at::kInt).to(at::kBool);
}

// With masks of bool (..., slice).
at::Tensor rebased_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return apply_regions_linear(signal, pack_ticks(mask), factor);
}

at::Tensor rebased_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return apply_regions_restored(signal, pack_ticks(mask), factor);
}

at::Tensor composite_of(const char* operation, const at::Tensor& signal, const at::Tensor& mask,
                        std::int64_t factor) {
    return testing::call_composite<at::Tensor, const at::Tensor&, const at::Tensor&, std::int64_t>(
        operation, signal, pack_ticks(mask), factor);
}

constexpr const char* linear = "spng::apply_regions_linear";
constexpr const char* restored = "spng::apply_regions_restored";

TEST(RebaselineLinear, AHandMadeRow) {
    // ROIs: ticks 1..3 with the line 2 4 6, tick 5 alone, and ticks 7..8.
    const auto signal = at::tensor({9., 2., 10., 6., 9., -3., 9., 1., 5.}, at::kDouble);
    const auto mask = mask_of({0, 1, 1, 1, 0, 1, 0, 1, 1});
    const auto expected = at::tensor({0., 0., 6., 0., 0., -3., 0., 0., 0.}, at::kDouble);
    EXPECT_TRUE(rebased_linear(signal, mask, 1).equal(expected));
    EXPECT_TRUE(composite_of(linear, signal, mask, 1).equal(expected));
}

TEST(RebaselineLinear, SlicesOfSeveralTicksAndACutLastOne) {
    // Factor 3 on 8 ticks: slice 0 is ticks 0..2, slice 2 is ticks 6..7.
    const auto signal = at::tensor({1., 7., 5., 8., 8., 8., 4., 6.}, at::kDouble);
    const auto expected = at::tensor({0., 4., 0., 0., 0., 0., 0., 0.}, at::kDouble);
    EXPECT_TRUE(rebased_linear(signal, mask_of({1, 0, 1}), 3).equal(expected));
    EXPECT_TRUE(composite_of(linear, signal, mask_of({1, 0, 1}), 3).equal(expected));
    // The whole row is one run from 1 to 6: the line is 1 + 5 k / 7.
    const auto whole = at::tensor({0., 37., 18., 34., 29., 24., -9., 0.}, at::kDouble).div(7);
    EXPECT_TRUE(rebased_linear(signal, mask_of({1, 1, 1}), 3).allclose(whole, 1e-14, 1e-14));
    EXPECT_TRUE(composite_of(linear, signal, mask_of({1, 1, 1}), 3).allclose(whole, 1e-14, 1e-14));
    // A last slice of one tick is a run of one tick.
    const auto seven = signal.narrow(0, 0, 7);
    EXPECT_EQ(rebased_linear(seven, mask_of({0, 0, 1}), 3)[6].item<double>(), 4.);
    EXPECT_EQ(composite_of(linear, seven, mask_of({0, 0, 1}), 3)[6].item<double>(), 4.);
}

TEST(RebaselineLinear, EndsOfRunsAreExactlyZero) {
    at::manual_seed(31);
    const auto signal = at::randn({20, 997}).mul(1e4);
    const auto mask = at::full({20, 997}, true, at::kBool);
    for (const auto& result : {rebased_linear(signal, mask, 1), composite_of(linear, signal, mask, 1)}) {
        EXPECT_TRUE(result.select(1, 0).eq(0).all().item<bool>());
        EXPECT_TRUE(result.select(1, 996).eq(0).all().item<bool>());
        EXPECT_GT(result.select(1, 500).abs().min().item<float>(), 0);
    }
}

TEST(RebaselineRestored, AHandMadeRow) {
    // Outside are 1, 3 and 5: baseline 3.
    const auto signal = at::tensor({1., 10., 12., 3., 5., 3.5}, at::kDouble);
    const auto mask = mask_of({0, 1, 1, 0, 0, 1});
    const auto expected = at::tensor({0., 7., 9., 0., 0., 0.5}, at::kDouble);
    EXPECT_TRUE(rebased_restored(signal, mask, 1).equal(expected));
    EXPECT_TRUE(composite_of(restored, signal, mask, 1).equal(expected));
}

TEST(RebaselineRestored, WhollyInsideAndWhollyOutside) {
    const auto signal = at::tensor({4., 6., 8., 4., 6., 8.}, at::kFloat).view({2, 3});
    const auto mask = at::tensor({1, 1, 0, 0}, at::kInt).to(at::kBool).view({2, 2});
    const auto expected = at::tensor({4., 6., 8., 0., 0., 0.}, at::kFloat).view({2, 3});
    EXPECT_TRUE(rebased_restored(signal, mask, 2).equal(expected));
    EXPECT_TRUE(composite_of(restored, signal, mask, 2).equal(expected));
}

TEST(RebaselineRestored, KeepsTheChargeThatALineWouldTake) {
    // A pedestal of 5 under a pulse of 100 a tick over 40 ticks, cut in the middle of its flanks.
    auto signal = at::full({1, 400}, 5.f);
    signal.narrow(1, 100, 40).add_(100);
    auto mask = at::zeros({1, 100}, at::kBool);
    mask.narrow(1, 25, 10).fill_(true);
    EXPECT_EQ(rebased_restored(signal, mask, 4).sum().item<float>(), 4000.f);
    EXPECT_EQ(rebased_linear(signal, mask, 4).sum().item<float>(), 0.f);
}

/// Both definitions, tick by tick in float64.
at::Tensor naive(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor, bool line) {
    const auto input = signal.to(at::kDouble);
    auto result = at::zeros(signal.sizes(), at::kDouble);
    const auto x = input.accessor<double, 2>();
    const auto m = mask.accessor<bool, 2>();
    auto y = result.accessor<double, 2>();
    const std::int64_t ticks = signal.size(1);
    for (std::int64_t row = 0; row < signal.size(0); ++row) {
        double outside = 0;
        int count = 0;
        for (std::int64_t k = 0; k < ticks; ++k) {
            if (!m[row][k / factor]) {
                outside += x[row][k];
                ++count;
            }
        }
        for (std::int64_t k = 0; k < ticks; ++k) {
            if (!m[row][k / factor]) {
                continue;
            }
            std::int64_t s = k, e = k;
            while (s > 0 && m[row][(s - 1) / factor]) {
                --s;
            }
            while (e + 1 < ticks && m[row][(e + 1) / factor]) {
                ++e;
            }
            const double fraction = e > s ? static_cast<double>(k - s) / static_cast<double>(e - s) : 0;
            const double under_line = e > s ? x[row][s] + (x[row][e] - x[row][s]) * fraction : 0;
            y[row][k] = x[row][k] - (line ? under_line : count > 0 ? outside / count : 0);
        }
    }
    return result;
}

TEST(Rebaseline, RandomRegionsAgreeWithTheDefinitions) {
    at::manual_seed(32);
    for (const std::int64_t factor : {1, 3, 4}) {
        for (const std::int64_t ticks : {1, 2, 5, 255, 256, 257, 1000}) {
            for (const double density : {0.1, 0.7, 0.98}) {
                const auto signal = at::randn({15, ticks}, at::kDouble);
                const auto mask = at::rand({15, (ticks + factor - 1) / factor}).lt(density);
                const auto label = std::to_string(ticks) + " ticks, factor " + std::to_string(factor);
                const auto by_line = naive(signal, mask, factor, true);
                const auto by_level = naive(signal, mask, factor, false);
                EXPECT_TRUE(rebased_linear(signal, mask, factor).allclose(by_line, 1e-12, 1e-12)) << label;
                EXPECT_TRUE(composite_of(linear, signal, mask, factor).allclose(by_line, 1e-12, 1e-12))
                    << label;
                EXPECT_TRUE(rebased_restored(signal, mask, factor).allclose(by_level, 1e-12, 1e-12)) << label;
                EXPECT_TRUE(composite_of(restored, signal, mask, factor).allclose(by_level, 1e-12, 1e-12))
                    << label;
                const auto single = signal.to(at::kFloat);
                EXPECT_TRUE(
                    rebased_linear(single, mask, factor).to(at::kDouble).allclose(by_line, 1e-5, 2e-6));
                EXPECT_TRUE(
                    rebased_restored(single, mask, factor).to(at::kDouble).allclose(by_level, 1e-5, 2e-6));
            }
        }
    }
}

TEST(Rebaseline, ViewsAndStridesAndThreads) {
    const auto signal = at::randn({2, 300, 20}).transpose(1, 2);
    const auto mask = at::rand({2, 75, 20}).lt(0.5).transpose(1, 2);
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const auto by_line = rebased_linear(signal, mask, 4);
    const auto by_level = rebased_restored(signal, mask, 4);
    at::set_num_threads(2);
    EXPECT_TRUE(rebased_linear(signal, mask, 4).equal(by_line));
    EXPECT_TRUE(rebased_restored(signal, mask, 4).equal(by_level));
    at::set_num_threads(threads);
    EXPECT_TRUE(by_line[1].to(at::kDouble).allclose(naive(signal[1], mask[1], 4, true), 1e-5, 2e-6));
    EXPECT_TRUE(by_level[1].to(at::kDouble).allclose(naive(signal[1], mask[1], 4, false), 1e-5, 2e-6));
}

TEST(Rebaseline, NothingGivesNothingAndWrongTensorsAreRejected) {
    const auto no_ticks = at::zeros({2, 3, 0});
    const auto no_slices = at::zeros({2, 3, 0}, at::kBool);
    EXPECT_EQ(rebased_linear(no_ticks, no_slices, 4).sizes(), (std::vector<std::int64_t>{2, 3, 0}));
    EXPECT_EQ(rebased_restored(no_ticks, no_slices, 4).sizes(), (std::vector<std::int64_t>{2, 3, 0}));
    EXPECT_EQ(composite_of(linear, no_ticks, no_slices, 4).sizes(), (std::vector<std::int64_t>{2, 3, 0}));
    EXPECT_EQ(composite_of(restored, no_ticks, no_slices, 4).sizes(), (std::vector<std::int64_t>{2, 3, 0}));
    const auto signal = at::zeros({2, 800});
    const auto mask = at::zeros({2, 4}, at::kLong); // 200 slices
    EXPECT_NO_THROW(apply_regions_linear(signal, mask, 4));
    EXPECT_THROW(apply_regions_linear(signal, mask, 3), Error);
    EXPECT_THROW(apply_regions_linear(signal, mask, 0), Error);
    EXPECT_THROW(apply_regions_linear(signal, mask[0], 4), Error);
    EXPECT_THROW(apply_regions_restored(signal.to(at::kInt), mask, 4), Error);
    EXPECT_THROW(apply_regions_restored(signal, mask.to(at::kFloat), 4), Error);
}

} // namespace
} // namespace spng
