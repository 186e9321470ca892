// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/rc_tails.h"

#include "spng/core/row_chunks.h"
#include "spng/instrument/meter/allocation.h"
#include "tests/core/nothing_waits.h"
#include "tests/support/components.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>

namespace spng::test {
namespace {

constexpr std::int64_t ticks = 6000;
constexpr double ratio = 500.0 / 1.1e6; // 500 ns, 1.1 ms
constexpr double baseline = 900;

/// One coupling in float64: y(n) = (y(n - 1) + x(n) - x(n - 1)) / (1 + r). The samples before the first are 0.
at::Tensor coupled(const at::Tensor& row) {
    at::Tensor result = row.to(at::kDouble).clone();
    auto* value = result.mutable_data_ptr<double>();
    double before = 0, last = 0;
    for (std::int64_t tick = 0; tick < result.numel(); ++tick) {
        const double own = value[tick];
        value[tick] = last = (last + own - before) / (1 + ratio);
        before = own;
    }
    return result;
}

/// The response of the Wire-Cell Toolkit: y(n) = x(n) - r sum_{k <= n} exp(-r (n - k)) x(k).
at::Tensor coupled_as_toolkit(const at::Tensor& row) {
    at::Tensor result = row.to(at::kDouble).clone();
    auto* value = result.mutable_data_ptr<double>();
    double charge = 0;
    for (std::int64_t tick = 0; tick < result.numel(); ++tick) {
        charge = charge * std::exp(-ratio) + value[tick];
        value[tick] -= ratio * charge;
    }
    return result;
}

at::Tensor impulse() {
    auto row = at::zeros({ticks}, at::kDouble);
    row[1000] = 1000;
    return row;
}

at::Tensor long_pulse() {
    auto row = at::zeros({ticks}, at::kDouble);
    row.slice(0, 2000, 3500) += 200;
    return row;
}

double largest(const at::Tensor& values) {
    return values.abs().max().item<double>();
}

/// Return the largest errors of both pulses behind two couplings, or one, in units of their heights.
template <class Coupling>
std::array<double, 2> errors_behind(const Coupling& coupling, std::int64_t layers, at::ScalarType type) {
    std::array<double, 2> errors{};
    const std::array pulses{impulse(), long_pulse()};
    for (std::size_t i = 0; i < pulses.size(); ++i) {
        const auto input = coupling(layers == 1 ? pulses[i] : coupling(pulses[i])) + baseline;
        const auto seen = remove_rc_tails(input.to(type), ratio, layers);
        errors[i] = largest(seen - pulses[i] - baseline) / largest(pulses[i]);
    }
    return errors;
}

TEST(RCTails, ImpulseAndLongPulseAreRestored) {
    ASSERT_GT(largest(coupled(long_pulse()) - long_pulse()), 80) << "the long pulse has a tail";
    for (const std::int64_t layers : {1, 2}) {
        for (const auto type : {at::kDouble, at::kFloat}) {
            // A sample of float32 is exact to 6e-5 counts, and sums of 6000 such samples are less so.
            for (const double error : errors_behind(coupled, layers, type)) {
                EXPECT_LT(error, 1e-4) << layers << " layers, " << type;
            }
        }
        const auto of_toolkit = errors_behind(coupled_as_toolkit, layers, at::kDouble);
        EXPECT_LT(of_toolkit[0], 1e-4);
        EXPECT_LT(of_toolkit[1], layers == 1 ? 1.5e-4 : 4e-4);
    }
}

TEST(RCTails, AnalogCouplingIsUndoneToTheWidthOfASample) {
    // A Gaussian pulse behind an analog coupling, integrated in steps of a hundredth of a tick.
    constexpr std::int64_t fine = 100;
    const auto time = at::arange(ticks * fine, at::kDouble) / static_cast<double>(fine);
    const auto pulse = at::exp((time - 1000).square() / (-2 * 16.0)) * 500;
    const double step = ratio / fine;
    auto row = pulse.clone();
    auto* value = row.mutable_data_ptr<double>();
    double charge = 0;
    for (std::int64_t i = 0; i < row.numel(); ++i) {
        const double own = value[i];
        charge = charge * std::exp(-step) + own * step;
        value[i] = own - charge;
    }
    const auto input = row.slice(0, 0, std::nullopt, fine) + baseline;
    const auto seen = remove_rc_tails(input, ratio, 1) - baseline - pulse.slice(0, 0, std::nullopt, fine);
    // Sums over samples instead of the integral: half a sample, T / (2 RC) of the height.
    EXPECT_LT(largest(seen), 1.1 * ratio / 2 * 500);
    EXPECT_LT(largest(seen.slice(0, 1100)), 1e-3) << "no tail";
}

TEST(RCTails, ChargeBeforeTheReadoutLeavesAFlatBaseline) {
    const auto tick = at::arange(ticks, at::kDouble);
    const auto seen = remove_rc_tails(at::exp(tick * -ratio) * -30 + baseline, ratio, 1);
    EXPECT_LT(largest(seen - (baseline - 30)), 0.02);
}

TEST(RCTails, TheBaselineOfNoiseIsKept) {
    at::manual_seed(1);
    const auto truth = long_pulse();
    const auto noise = at::randn({20, ticks}, at::kDouble) * 5;
    const auto input = (coupled(truth) + noise + baseline).round().to(at::kShort);
    const auto seen = remove_rc_tails(input, ratio, 1);
    EXPECT_EQ(seen.scalar_type(), at::kFloat);
    const auto error = (seen - truth - baseline).to(at::kDouble);
    EXPECT_LT(std::abs(error.mean().item<double>()), 0.2);
    EXPECT_NEAR(error.square().mean().sqrt().item<double>(), 5, 0.2);
    // Means over 500 ticks: noise of 5 / sqrt(500) = 0.22, and what the sums add.
    const auto means = error.view({20, 12, 500}).mean(-1);
    EXPECT_LT(means.std().item<double>(), 0.5);
    EXPECT_LT(largest(means.mean(0)), 0.4);
}

TEST(RCTails, RowsAreIndependentAndNothingWaits) {
    at::manual_seed(2);
    const auto input = at::randn({2, 3, 700}, at::kDouble) + baseline;
    const testing::NothingWaits watched;
    const auto seen = remove_rc_tails(input, ratio, 2);
    const auto alone = remove_rc_tails(input[1][2], ratio, 2);
    EXPECT_LT((seen[1][2] - alone).abs().max().const_data_ptr<double>()[0], 1e-9);
    for (const std::int64_t count : {0, 1, 2, 40, 70}) {
        const auto flat = at::ones({2, count}, at::kDouble) * baseline;
        const auto kept = remove_rc_tails(flat, ratio, 2);
        EXPECT_EQ(kept.sizes(), flat.sizes());
        EXPECT_TRUE(count == 0 || (kept - flat).abs().max().const_data_ptr<double>()[0] < 1e-9) << count;
    }
}

TEST(RCTails, TemporariesAreBounded) {
    const auto input = at::randn({40, ticks}) + baseline;
    instrument::count_cpu_allocations();
    const instrument::AllocationScope scope(instrument::AllocationScope::Reports::none);
    const auto seen = remove_rc_tails(input, ratio, 2);
    EXPECT_LE(scope.cpu().peak - static_cast<std::int64_t>(seen.nbytes()), cached_composition_bytes);
}

TEST(RCTails, WrongArgumentsAreRejected) {
    const auto row = at::zeros({4, 10});
    EXPECT_THROW(remove_rc_tails(row.to(at::kInt), ratio, 1), Error);
    EXPECT_THROW(remove_rc_tails(row, 0, 1), Error);
    EXPECT_THROW(remove_rc_tails(row, 0.2, 1), Error);
    EXPECT_THROW(remove_rc_tails(row, ratio, 3), Error);
    Components components;
    EXPECT_EQ(error_of([&] { components.add("SPNGRCTails:test", {{"layers", 1}}); }).text().where,
              "SPNGRCTails:test");
    EXPECT_EQ(error_of([&] { components.add("SPNGRCTails:test", {{"constant", 1.1e6}, {"layers", 3}}); })
                  .text()
                  .where,
              "SPNGRCTails:test, key layers");
}

TEST(RCTails, NodeTakesThePeriodOfItsInput) {
    Components components;
    auto& node = dynamic_cast<Node&>(components.add("SPNGRCTails:test", {{"constant", 1.1e6}}));
    node.prepare(components.environment());
    NamedTensor waveforms;
    waveforms.name = "collection";
    waveforms.data = (coupled(impulse()) + baseline).view({1, 1, ticks});
    const auto call = [&](double tick) {
        waveforms.axes = {{"view", "", 0, 1}, {"channel", "", 0, 1}, {"tick", "ns", 0, tick}};
        return node.call(
            0, {std::make_shared<const TensorSet>(std::make_shared<EventInfo>(), std::vector{waveforms})},
            {});
    };
    EXPECT_LT(largest(call(500)[0]->only().data.view({-1}) - impulse() - baseline), 0.1);
    EXPECT_EQ(error_of([&] { call(0); }).text().what, "the sampling period does not suit the RC constant");
}

} // namespace
} // namespace spng::test
