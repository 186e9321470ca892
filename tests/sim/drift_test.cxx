// SPDX-License-Identifier: Apache-2.0
// Drift to the response plane: values computed by hand, and drifted depositions of WCT.

#include "spng/nodes/sim/depos/drift.h"

#include "spng/core/error.h"
#include "spng/nodes/sim/depos/depo_reader.h"
#include "spng/nodes/sim/random_stream.h"
#include "tests/support/paths.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace spng {
namespace {

constexpr double speed = 1.6e-3; // mm/ns

/// Two faces back to back with wires at x = 0, response planes at +-100 mm and cathodes at +-1700 mm.
const std::vector<DriftVolume> volumes{
    {.face = 0, .anode = 5, .response = 100, .cathode = 1700, .low = {0, 0}, .high = {1000, 500}},
    {.face = 1, .anode = -5, .response = -100, .cathode = -1700, .low = {0, 0}, .high = {1000, 500}}};

/// Make depositions from rows of t, q, x, y, z, sigma_L, sigma_T.
Depositions depositions(const std::vector<std::vector<double>>& columns) {
    const auto n = static_cast<std::int64_t>(columns.size());
    at::Tensor data = at::empty({depo_row::count, n}, at::kDouble);
    at::Tensor info = at::zeros({depo_info_row::count, n}, at::kInt);
    for (std::int64_t i = 0; i < n; ++i) {
        data.select(1, i).copy_(at::tensor(columns[static_cast<std::size_t>(i)], at::kDouble));
        info[depo_info_row::id][i] = i;
    }
    return {data, info};
}

double value(const DriftedDepositions& drifted, std::int64_t row, std::int64_t column) {
    return drifted.depositions.data.contiguous()
        .const_data_ptr<double>()[row * drifted.depositions.count() + column];
}

TEST(Drift, NumbersByHand) {
    // 800 mm at 1.6 mm/us take 500 us; 2 D_L dt = 2 * 4e-7 * 5e5 = 0.4 mm2, 2 D_T dt = 0.88 mm2.
    const DriftSettings settings{speed, 4e-7, 8.8e-7, 1e6, false};
    const auto drifted =
        drift(depositions({{1000, -5000, 900, 10, 20, 0, 0}, {0, -100, -900, 30, 40, 0.3, 0.6}}), volumes,
              settings, 1);
    ASSERT_EQ(drifted.outside, 0);
    ASSERT_EQ(drifted.depositions.count(), 2);
    // The second one arrives first, because it starts 1 us earlier.
    EXPECT_NEAR(value(drifted, depo_row::time, 0), 500000, 1e-6);
    EXPECT_NEAR(value(drifted, depo_row::charge, 0), -100 * std::exp(-0.5), 1e-10);
    EXPECT_EQ(value(drifted, depo_row::x, 0), -100);
    EXPECT_EQ(value(drifted, depo_row::y, 0), 30);
    EXPECT_EQ(value(drifted, depo_row::z, 0), 40);
    EXPECT_NEAR(value(drifted, depo_row::sigma_long, 0), std::sqrt(0.09 + 0.4), 1e-12);
    EXPECT_NEAR(value(drifted, depo_row::sigma_tran, 0), std::sqrt(0.36 + 0.88), 1e-12);
    EXPECT_NEAR(value(drifted, depo_row::time, 1), 501000, 1e-6);
    EXPECT_NEAR(value(drifted, depo_row::charge, 1), -5000 * std::exp(-0.5), 1e-9);
    EXPECT_EQ(value(drifted, depo_row::x, 1), 100);
    EXPECT_NEAR(value(drifted, depo_row::sigma_long, 1), std::sqrt(0.4), 1e-12);
    EXPECT_EQ(drifted.depositions.info[depo_info_row::id].const_data_ptr<int>()[0], 1);
}

TEST(Drift, BehindTheResponsePlaneChargeIsMovedBackInTime) {
    const auto drifted = drift(depositions({{1000, -5000, 20, 10, 20, 0.1, 0.2}}), volumes,
                               {speed, 4e-7, 8.8e-7, 1e6, true}, 1);
    EXPECT_NEAR(value(drifted, depo_row::time, 0), 1000 - 80 / speed, 1e-9);
    EXPECT_EQ(value(drifted, depo_row::charge, 0), -5000);
    EXPECT_EQ(value(drifted, depo_row::x, 0), 100);
    EXPECT_DOUBLE_EQ(value(drifted, depo_row::sigma_long, 0), 0.1);
    EXPECT_DOUBLE_EQ(value(drifted, depo_row::sigma_tran, 0), 0.2);
}

TEST(Drift, OutsideIsCountedAndDropped) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto drifted = drift(depositions({{0, -1, 500, 10, 20, 0, 0},
                                            {0, -1, 1701, 10, 20, 0, 0},  // behind the cathode
                                            {0, -1, 4.9, 10, 20, 0, 0},   // behind the wires
                                            {0, -1, 500, -0.1, 20, 0, 0}, // below
                                            {0, -1, 500, 10, 500.1, 0, 0},
                                            {0, -1, nan, 10, 20, 0, 0},
                                            {nan, -1, 500, 10, 20, 0, 0},
                                            {0, -1, 1700, 1000, 500, 0, 0}}), // a corner
                               volumes, {speed, 4e-7, 8.8e-7, 0, true}, 1);
    EXPECT_EQ(drifted.outside, 6);
    ASSERT_EQ(drifted.depositions.count(), 2);
    EXPECT_EQ(drifted.depositions.info[depo_info_row::id].const_data_ptr<int>()[1], 7);
    EXPECT_EQ(drift(no_depositions(), volumes, {speed, 4e-7, 8.8e-7, 1e6, true}, 1).depositions.count(), 0);
}

TEST(Drift, FluctuationsAreBinomialAndDependOnTheSeed) {
    constexpr std::int64_t n = 20000;
    at::Tensor data = at::zeros({depo_row::count, n}, at::kDouble);
    data[depo_row::charge] = -1000.25;
    data[depo_row::x] = 900;
    data[depo_row::y] = 10;
    data[depo_row::z] = 10;
    const Depositions many{data, at::zeros({depo_info_row::count, n}, at::kInt)};
    const DriftSettings settings{speed, 4e-7, 8.8e-7, 5e6, true}; // 9.5 % are absorbed
    const at::Tensor charge = drift(many, volumes, settings, 7).depositions.data[depo_row::charge];
    const double lost = -std::expm1(-0.1), sigma = std::sqrt(1000 * lost * (1 - lost));
    const at::Tensor absorbed = charge + 1000.25;
    EXPECT_NEAR(absorbed.mean().item().toDouble(), 1000 * lost, 4 * sigma / std::sqrt(n));
    EXPECT_NEAR(absorbed.std().item().toDouble() / sigma, 1, 4 / std::sqrt(2.0 * n));
    EXPECT_EQ((absorbed - absorbed.round()).abs().max().item().toDouble(), 0) << "whole electrons";
    EXPECT_TRUE(at::equal(charge, drift(many, volumes, settings, 7).depositions.data[depo_row::charge]));
    EXPECT_FALSE(at::equal(charge, drift(many, volumes, settings, 8).depositions.data[depo_row::charge]));
    const int threads = at::get_num_threads();
    at::set_num_threads(threads == 1 ? 3 : 1);
    EXPECT_TRUE(at::equal(charge, drift(many, volumes, settings, 7).depositions.data[depo_row::charge]));
    at::set_num_threads(threads);
}

TEST(Binomial, MeanAndVarianceByInversionAndByQuantile) {
    struct Case {
        std::int64_t trials;
        double probability;
    };
    for (const auto& [trials, probability] : {Case{10, 0.3}, Case{1, 0.02}, Case{2500, 0.01},
                                              Case{2500, 0.06}, Case{2500, 0.9}, Case{400, 0.5}}) {
        constexpr int n = 40000;
        RandomStream random(5);
        double sum = 0, squares = 0;
        for (int i = 0; i < n; ++i) {
            const auto successes = binomial(random, trials, probability);
            ASSERT_GE(successes, 0);
            ASSERT_LE(successes, trials);
            sum += static_cast<double>(successes);
            squares += static_cast<double>(successes * successes);
        }
        const double mean = sum / n, variance = squares / n - mean * mean;
        const double expected = static_cast<double>(trials) * probability,
                     expected_variance = expected * (1 - probability);
        EXPECT_NEAR(mean, expected, 4 * std::sqrt(expected_variance / n)) << trials << " " << probability;
        // The standard error of the variance is sqrt((kurtosis - 1) / n) times the variance.
        const double kurtosis = 3 + (1 - 6 * probability * (1 - probability)) / expected_variance;
        EXPECT_NEAR(variance / expected_variance, 1, 4 * std::sqrt((kurtosis - 1) / n))
            << trials << " " << probability;
    }
    RandomStream random(5);
    EXPECT_EQ(binomial(random, 7, 0), 0);
    EXPECT_EQ(binomial(random, 7, 1), 7);
    EXPECT_EQ(binomial(random, 0, 0.5), 0);
}

TEST(DriftVolumes, ImpossibleOnesAreRejected) {
    const WireAnode anode{.ident = 0, .faces = {{.ident = 0, .planes = {}}}};
    EXPECT_EQ(make_drift_volumes(anode, {{0, -5, -100, -200}}, "here").front().side(), -1);
    EXPECT_THROW(make_drift_volumes(anode, {{0, 300, 100, 1700}}, "here"), Error);
    EXPECT_THROW(make_drift_volumes(anode, {{0, 0, 100, 100}}, "here"), Error);
    EXPECT_THROW(make_drift_volumes(anode, {{1, 0, 100, 1700}}, "here"), Error);
    EXPECT_THROW(make_drift_volumes(anode, {{0, 0, 100, 1700}, {0, 0, 100, 1700}}, "here"), Error);
}

/// WCT's drifter on the same depositions: 4.0 and 8.8 cm2/s, 35 ms, 1.60563 mm/us.
TEST(Drift, AgreesWithTheDrifterOfWct) {
    const auto before_path = test::shared_data("pdhd/tracks10-depos.npz");
    const auto after_path = test::shared_data("pdhd/tracks10-drifted.npz");
    if (!before_path || !after_path) {
        GTEST_SKIP() << "../shared/data/pdhd is absent";
    }
    const Depositions before = DepoReader(*before_path).next()->depositions;
    const auto field = DepoReader(*after_path).next();
    EXPECT_EQ(field->ancestors, before.count());
    const std::vector<DriftVolume> pdhd{{.face = 0,
                                         .anode = -3520.945,
                                         .response = -3430.465,
                                         .cathode = -1.5875,
                                         .low = {76.1, -1.0},
                                         .high = {6066.7, 2305.73}}};
    DriftSettings settings{1.60563e-3, 4e-7, 8.8e-7, 35e6, false};
    const DriftedDepositions mean = drift(before, pdhd, settings, 1);
    ASSERT_EQ(mean.outside, 0);
    ASSERT_EQ(mean.depositions.count(), field->depositions.count());
    // Both are in order of arrival. The times of the file are float32, so neighbours may be swapped.
    const auto ordered = [](const Depositions& depositions) {
        return selected_depositions(depositions, depositions.data[depo_row::z].argsort());
    };
    const at::Tensor ours = ordered(mean.depositions).data, theirs = ordered(field->depositions).data;
    const auto largest = [&](std::int64_t row) {
        return (ours[row] - theirs[row]).abs().max().item().toDouble();
    };
    EXPECT_LT(largest(depo_row::time), 0.25); // ns; float32 steps of 0.125 ns at 2 ms
    EXPECT_LT(largest(depo_row::x), 2e-4);    // mm; float32
    EXPECT_EQ(largest(depo_row::y), 0);
    EXPECT_EQ(largest(depo_row::z), 0);
    EXPECT_LT(largest(depo_row::sigma_long), 2e-6);
    EXPECT_LT(largest(depo_row::sigma_tran), 2e-6);

    // The charge deviates from the mean as a binomial number of absorbed electrons.
    const at::Tensor initial = at::zeros_like(ours[0]);
    const at::Tensor arrival = ours[depo_row::time];
    const Depositions start = ordered(before);
    const at::Tensor dt = arrival - start.data[depo_row::time];
    const at::Tensor lost = 1 - at::exp(-dt / settings.lifetime);
    const at::Tensor sigma = (start.data[depo_row::charge].abs() * lost * (1 - lost)).sqrt();
    const auto pull = [&](const at::Tensor& charge) {
        const at::Tensor pulls = (charge - ours[depo_row::charge]) / sigma;
        return std::pair(pulls.mean().item().toDouble(), pulls.std().item().toDouble());
    };
    const auto n = static_cast<double>(before.count());
    const auto [field_mean, field_width] = pull(theirs[depo_row::charge]);
    EXPECT_NEAR(field_mean, 0, 4 / std::sqrt(n));
    EXPECT_NEAR(field_width, 1, 0.02);
    settings.fluctuate = true;
    const at::Tensor drawn = ordered(drift(before, pdhd, settings, 3).depositions).data;
    const auto [mean_pull, width] = pull(drawn[depo_row::charge]);
    EXPECT_NEAR(mean_pull, 0, 4 / std::sqrt(n));
    EXPECT_NEAR(width, 1, 0.02);
    EXPECT_NEAR((drawn[depo_row::charge].sum() / theirs[depo_row::charge].sum()).item().toDouble(), 1, 1e-4);
}

} // namespace
} // namespace spng
