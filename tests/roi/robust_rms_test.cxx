// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/robust_rms.h"

#include "spng/core/error.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace spng {
namespace {

at::Tensor robust_rms(const at::Tensor& waveforms, double cut = 5) {
    return robust_noise(waveforms, cut).rms;
}

/// RMS of a unit Gaussian cut at c = 5 and c = 3: sqrt(1 - 2 c phi(c) / erf(c / sqrt 2)).
constexpr double left_at_5 = 0.9999925663705352;
constexpr double left_at_3 = 0.9865783925581086;

void expect_near(const at::Tensor& seen, const std::vector<double>& expected, double relative) {
    ASSERT_EQ(seen.numel(), static_cast<std::int64_t>(expected.size()));
    const auto values = seen.flatten().to(at::kDouble);
    for (std::size_t row = 0; row < expected.size(); ++row) {
        EXPECT_NEAR(values[row].item<double>(), expected[row], relative * std::abs(expected[row]))
            << "row " << row;
    }
}

TEST(RobustRms, AHandMadeRow) {
    // Sorted -3 -2 -1 0 1 2 3 4 5 6 1000. Ranks floor(1.6) = 1, 5 and floor(8.4) = 8: x16 = -2, x50 = 2, x84
    // = 5. First sigma sqrt((9 + 16) / 2) = 3.54, limit 17.7: all but 1000 count. Squares about 2: 25 16 9 4
    // 1 0 1 4 9 16 = 85 over 10 samples.
    const auto row = at::tensor({4., 1000., -3., 0., 6., 2., -1., 5., 1., -2., 3.}, at::kDouble);
    expect_near(robust_rms(row), {std::sqrt(8.5) / left_at_5}, 1e-14);
    expect_near(robust_noise(row).low, {-2}, 0);
    expect_near(robust_rms(row.to(at::kFloat)), {std::sqrt(8.5) / left_at_5}, 1e-7);
}

TEST(RobustRms, SamplesAtTheLimitCount) {
    // x16 = -1, x50 = 0, x84 = 1: limit 5. Of 5 and 5.5 only the former counts: (14 x 1 + 25) / 28.
    std::vector<double> values(13, 0.);
    values.insert(values.end(), 7, 1.);
    values.insert(values.end(), 7, -1.);
    values.insert(values.end(), {5., 5.5});
    const auto row = at::tensor(values, at::kDouble);
    expect_near(robust_rms(row), {std::sqrt(39. / 28.) / left_at_5}, 1e-14);
}

TEST(RobustRms, ConstantAndShortRows) {
    const auto constant = at::full({2, 100}, -7.5f);
    EXPECT_TRUE(robust_rms(constant).equal(at::zeros({2})));
    EXPECT_TRUE(plain_rms(constant).equal(at::zeros({2})));
    EXPECT_TRUE(robust_rms(at::full({3, 1}, 4.f)).equal(at::zeros({3})));
    EXPECT_TRUE(plain_rms(at::full({3, 1}, 4.f)).equal(at::zeros({3})));
}

/// The definition, computed with a sort.
double naive_robust_rms(const at::Tensor& row, double cut) {
    const auto samples = row.to(at::kDouble).contiguous();
    std::vector<double> sorted(samples.const_data_ptr<double>(),
                               samples.const_data_ptr<double>() + samples.numel());
    std::sort(sorted.begin(), sorted.end());
    const auto at_fraction = [&](double fraction) {
        return sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))];
    };
    const double median = at_fraction(0.50);
    const double sigma =
        std::sqrt(0.5 * (std::pow(at_fraction(0.84) - median, 2) + std::pow(median - at_fraction(0.16), 2)));
    double squares = 0;
    int count = 0;
    for (const double sample : sorted) {
        if (std::abs(sample - median) <= cut * sigma) {
            squares += (sample - median) * (sample - median);
            ++count;
        }
    }
    return std::sqrt(squares / count) / (cut == 5 ? left_at_5 : left_at_3);
}

TEST(RobustRms, RandomRowsAgreeWithASort) {
    at::manual_seed(11);
    for (const std::int64_t ticks : {2, 3, 7, 8, 9, 64, 1500}) {
        auto waveforms = at::randn({2, 4, ticks}, at::kDouble).mul(300).add(40);
        waveforms[0][2] = waveforms[0][2].round().div(100).round();
        waveforms.narrow(-1, 0, (ticks + 9) / 10).add_(5000);
        std::vector<double> expected, expected_at_3;
        for (int row = 0; row < 8; ++row) {
            expected.push_back(naive_robust_rms(waveforms[row / 4][row % 4], 5));
            expected_at_3.push_back(naive_robust_rms(waveforms[row / 4][row % 4], 3));
        }
        expect_near(robust_rms(waveforms), expected, 1e-12);
        expect_near(robust_rms(waveforms, 3), expected_at_3, 1e-12);
        const auto median = std::get<0>(waveforms.median(-1));
        EXPECT_TRUE(robust_noise(waveforms).median.equal(median));
        ASSERT_EQ(robust_rms(waveforms).sizes(), (std::vector<std::int64_t>{2, 4}));
    }
}

TEST(RobustRms, SignalsHardlyMoveIt) {
    at::manual_seed(12);
    auto waveforms = at::randn({20, 1500});
    const auto noise = robust_rms(waveforms);
    waveforms.narrow(1, 300, 100).add_(200);
    const auto busy = robust_rms(waveforms);
    EXPECT_LT(busy.div(noise).sub(1).abs().max().item<float>(), 0.1);
    EXPECT_NEAR(noise.mean().item<float>(), 1, 0.02);
    // The result is corrected for the tails beyond the cut at 3.
    EXPECT_NEAR(robust_rms(at::randn({100, 6000}), 3).mean().item<float>(), 1, 0.003);
    EXPECT_GT(plain_rms(waveforms).min().item<float>(), 40);
}

TEST(PlainRms, IsTheUnbiasedDeviation) {
    // Squares about the mean 4: 9 + 1 + 0 + 16 + 0 = 26, over 5 - 1.
    const auto row = at::tensor({1., 3., 4., 8., 4.}, at::kDouble);
    expect_near(plain_rms(row), {std::sqrt(6.5)}, 1e-14);
    // A large offset does not reduce the precision.
    expect_near(plain_rms(row.add(1e6).to(at::kFloat)), {std::sqrt(6.5)}, 1e-6);
    at::manual_seed(13);
    const auto waveforms = at::randn({3, 1501}).mul(100).add(7);
    EXPECT_TRUE(plain_rms(waveforms).allclose(waveforms.std(-1, /*unbiased=*/true), 1e-6));
}

TEST(RobustRms, OneThreadAndTwoGiveTheSameBits) {
    const auto waveforms = at::randn({33, 700});
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    const auto robust = robust_rms(waveforms);
    const auto plain = plain_rms(waveforms);
    at::set_num_threads(2);
    EXPECT_TRUE(robust_rms(waveforms).equal(robust));
    EXPECT_TRUE(plain_rms(waveforms).equal(plain));
    at::set_num_threads(threads);
}

TEST(RobustRms, NothingGivesNothingAndWrongTypesAreRejected) {
    EXPECT_TRUE(robust_rms(at::zeros({2, 3, 0})).equal(at::zeros({2, 3})));
    EXPECT_TRUE(plain_rms(at::zeros({2, 3, 0})).equal(at::zeros({2, 3})));
    EXPECT_EQ(robust_rms(at::zeros({0, 10})).sizes(), (std::vector<std::int64_t>{0}));
    EXPECT_THROW(robust_rms(at::zeros({2, 3}, at::kShort)), Error);
    EXPECT_THROW(robust_rms(at::zeros({2, 3}), 0.5), Error);
    EXPECT_THROW(robust_rms(at::zeros({2, 3}), 11), Error);
    EXPECT_THROW(plain_rms(at::Tensor()), Error);
}

} // namespace
} // namespace spng
