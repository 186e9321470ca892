// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/rebaseline.h"

#include "spng/core/error.h"
#include "spng/core/rows/bit_ticks.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argmin.h>
#include <ATen/ops/full.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <optional>
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

void expect_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor,
                   const at::Tensor& expected) {
    EXPECT_TRUE(rebased_linear(signal, mask, factor).allclose(expected, 1e-12, 1e-12));
}

/// Return a row of `ticks` with `value` in [begin, end) and 0 elsewhere.
at::Tensor box(std::int64_t ticks, std::int64_t begin, std::int64_t end, double value) {
    auto row = at::zeros({ticks}, at::kDouble);
    row.narrow(0, begin, end - begin).fill_(value);
    return row;
}

TEST(RebaselineLinear, ASlopeUnderAPulseIsRemoved) {
    // A pulse of 100 on a line: the levels of eight ticks lie on the line.
    const auto pulse = box(60, 24, 36, 100);
    const auto signal = pulse + at::arange(60, at::kDouble).mul(0.5).add(2);
    expect_linear(signal, box(15, 6, 9, 1).to(at::kBool), 4, pulse);
}

TEST(RebaselineLinear, LevelsAreMeansOfEightTicksSixTicksBeside) {
    // ROI [20, 24): the levels are the means over [10, 18) and [26, 34), which hold 8 and 16 once.
    auto signal = at::zeros({60}, at::kDouble);
    signal[10] = 8.;
    signal[33] = 16.;
    signal[9] = signal[18] = signal[25] = signal[34] = 1000.;
    // From 1 at tick 13.5 to 2 at tick 29.5, that is 1 + (k - 13.5) / 16.
    const auto expected = at::zeros({60}, at::kDouble);
    for (int k = 20; k < 24; ++k) {
        signal[k] = 5.;
        expected[k] = 5 - (1 + (k - 13.5) / 16);
    }
    expect_linear(signal, box(60, 20, 24, 1).to(at::kBool), 1, expected);
}

TEST(RebaselineLinear, ALevelIsHalfWayToTheNextRoi) {
    // ROIs [20, 24) and [28, 32): the level between them is the mean over [22, 30), 4; the outer levels are 0.
    // The samples 20 and 31 make both sums positive.
    const auto signal = box(60, 24, 28, 8) + box(60, 20, 21, 80) + box(60, 31, 32, 80);
    const auto expected = box(60, 20, 21, 80) + box(60, 31, 32, 80);
    for (int k = 0; k < 4; ++k) {
        expected[20 + k] -= 4 * (k + 6.5) / 12;
        expected[28 + k] -= 4 - 4 * (k + 2.5) / 12;
    }
    const auto mask = box(60, 20, 24, 1) + box(60, 28, 32, 1);
    expect_linear(signal, mask.to(at::kBool), 1, expected);
}

TEST(RebaselineLinear, ANegativeSumBendsTheBaselineAtTheLowestTick) {
    // ROI [20, 28) on a level of 3 with a pulse of 6 and a dip beside it, the sum is -36 or less.
    const auto expect = [](const std::vector<double>& roi, const std::vector<double>& baseline) {
        const auto signal = at::full({60}, 3., at::kDouble), expected = at::zeros({60}, at::kDouble);
        for (int k = 0; k < 8; ++k) {
            signal[20 + k] = roi[k] + 3;
            expected[20 + k] = roi[k] - baseline[k];
        }
        expect_linear(signal, box(60, 20, 28, 1).to(at::kBool), 1, expected);
    };
    // To the lowest tick 23, four ticks from 19 and five from 28: the lines have a sum of -15 x 9 / 2 = -67.5.
    expect({-3, 6, -9, -15, -12, -6, -3, 0}, {-3.75, -7.5, -11.25, -15, -12, -9, -6, -3});
    // A sum of -13.5 becomes 13.5, with 0.4 of these lines.
    expect({-3, 16.5, -6, -15, -9, 3, 0, 0}, {-1.5, -3, -4.5, -6, -4.8, -3.6, -2.4, -1.2});
    expect({-3, 30, -6, -15, -9, 3, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(RebaselineLinear, ALevelBeyondTheRowIsThatOfTheOtherSide) {
    // A pulse of 100 on a level of 3 that an end of the readout cuts keeps its charge.
    for (const bool at_end : {false, true}) {
        const auto pulse = at_end ? box(62, 52, 62, 100) : box(62, 0, 12, 100);
        const auto mask = at_end ? box(16, 13, 16, 1) : box(16, 0, 3, 1);
        expect_linear(pulse + 3, mask.to(at::kBool), 4, pulse);
    }
    // Without a level on either side the values are kept.
    expect_linear(at::full({14}, 7., at::kDouble), box(14, 3, 5, 1).to(at::kBool), 1, box(14, 3, 5, 7));
}

TEST(RebaselineLinear, KeepsTheChargeOfAPulseThatReachesBeyondTheRoi) {
    // A Gaussian pulse of 10 000 electrons, RMS 6 ticks, in an ROI of 24 ticks.
    const auto tick = at::arange(100, at::kDouble);
    const auto signal = tick.sub(49.5).square().div(-72).exp().mul(10000 / 15.0398);
    const auto found = rebased_linear(signal + 5, box(25, 9, 16, 1).to(at::kBool), 4);
    EXPECT_NEAR(found.sum().item<double>(), 9673.338, 1e-3); // 2 % are beyond the ROI, 1 % below the levels
}

TEST(RebaselineRestored, AHandMadeRow) {
    // Outside are 1, 3 and 5: baseline 3.
    const auto signal = at::tensor({1., 10., 12., 3., 5., 3.5}, at::kDouble);
    const auto mask = mask_of({0, 1, 1, 0, 0, 1});
    const auto expected = at::tensor({0., 7., 9., 0., 0., 0.5}, at::kDouble);
    EXPECT_TRUE(rebased_restored(signal, mask, 1).equal(expected));
}

TEST(RebaselineRestored, WhollyInsideAndWhollyOutside) {
    const auto signal = at::tensor({4., 6., 8., 4., 6., 8.}, at::kFloat).view({2, 3});
    const auto mask = at::tensor({1, 1, 0, 0}, at::kInt).to(at::kBool).view({2, 2});
    const auto expected = at::tensor({4., 6., 8., 0., 0., 0.}, at::kFloat).view({2, 3});
    EXPECT_TRUE(rebased_restored(signal, mask, 2).equal(expected));
}

TEST(RebaselineRestored, KeepsTheChargeThatALineWouldTake) {
    // A pedestal of 5 under a pulse of 100 a tick over 40 ticks, cut in the middle of its flanks.
    auto signal = at::full({1, 400}, 5.f);
    signal.narrow(1, 100, 40).add_(100);
    auto mask = at::zeros({1, 100}, at::kBool);
    mask.narrow(1, 25, 10).fill_(true);
    EXPECT_EQ(rebased_restored(signal, mask, 4).sum().item<float>(), 4000.f);
    EXPECT_EQ(rebased_linear(signal, mask, 4).sum().item<float>(), 4000.f);
}

/// Return the mean over eight ticks, or nothing beyond the row.
std::optional<double> level_at(const at::TensorAccessor<double, 1>& x, std::int64_t first) {
    double sum = 0;
    for (std::int64_t k = first; k < first + 8; ++k) {
        if (k < 0 || k >= x.size(0)) {
            return std::nullopt;
        }
        sum += x[k];
    }
    return sum / 8;
}

/// If the sum of an ROI (tick,) is negative, subtract two lines from 0 beside its ends to its lowest tick, until the sum is
/// as far above 0 or that tick is 0.
void bend_if_negative(const at::Tensor& charge) {
    const double sum = charge.sum().item<double>();
    if (sum < 0) {
        const std::int64_t ticks = charge.size(0), lowest = charge.argmin().item<std::int64_t>();
        const auto tick = at::arange(ticks, at::kDouble);
        const auto share = at::minimum((tick + 1) / (lowest + 1), (ticks - tick) / (ticks - lowest));
        const auto bend = share * charge[lowest].item<double>();
        charge.sub_(bend * std::min(1.0, 2 * sum / bend.sum().item<double>()));
    }
}

/// Both definitions, tick by tick in float64.
at::Tensor naive(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor, bool line) {
    const auto input = signal.to(at::kDouble).contiguous();
    auto result = at::zeros(signal.sizes(), at::kDouble);
    const auto x = input.accessor<double, 2>();
    const auto m = mask.accessor<bool, 2>();
    auto y = result.accessor<double, 2>();
    const std::int64_t ticks = signal.size(1);
    for (std::int64_t row = 0; row < signal.size(0); ++row) {
        const auto is_inside = [&](std::int64_t k) { return k >= 0 && k < ticks && m[row][k / factor]; };
        double outside = 0;
        int count = 0;
        for (std::int64_t k = 0; k < ticks; ++k) {
            if (!is_inside(k)) {
                outside += x[row][k];
                ++count;
            }
        }
        for (std::int64_t k = 0; k < ticks; ++k) {
            if (!is_inside(k)) {
                continue;
            }
            std::int64_t s = k, e = k + 1;
            while (is_inside(s - 1)) {
                --s;
            }
            while (is_inside(e)) {
                ++e;
            }
            std::int64_t before = 0, after = 0; // ticks without ROI beside it, at most 12
            while (before < 12 && !is_inside(s - 1 - before)) {
                ++before;
            }
            while (after < 12 && !is_inside(e + after)) {
                ++after;
            }
            const auto left = level_at(x[row], s - before / 2 - 4);
            const auto right = level_at(x[row], e + after / 2 - 4);
            double under_line = left.value_or(right.value_or(0));
            if (left && right) {
                const double share = (static_cast<double>(k - s + before / 2) + 0.5) /
                                     static_cast<double>(e - s + before / 2 + after / 2);
                under_line = *left + (*right - *left) * share;
            }
            y[row][k] = x[row][k] - (line ? under_line : count > 0 ? outside / count : 0);
            if (line && k == e - 1) {
                bend_if_negative(result[row].narrow(0, s, e - s));
            }
        }
    }
    return result;
}

TEST(Rebaseline, RandomRegionsAgreeWithTheDefinitions) {
    at::manual_seed(32);
    for (const std::int64_t factor : {1, 3, 4}) {
        for (const std::int64_t ticks : {1, 2, 5, 21, 255, 256, 257, 1000}) {
            for (const double density : {0.1, 0.7, 0.98}) {
                const auto signal = at::randn({15, ticks}, at::kDouble);
                const auto mask = at::rand({15, (ticks + factor - 1) / factor}).lt(density);
                const auto label = std::to_string(ticks) + " ticks, factor " + std::to_string(factor);
                const auto by_line = naive(signal, mask, factor, true);
                const auto by_level = naive(signal, mask, factor, false);
                EXPECT_TRUE(rebased_linear(signal, mask, factor).allclose(by_line, 1e-12, 1e-12)) << label;
                EXPECT_TRUE(rebased_restored(signal, mask, factor).allclose(by_level, 1e-12, 1e-12)) << label;
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
