// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/digitizer.h"

#include "spng/nodes/sim/signal/depo_flux_splat.h"
#include "tests/support/components.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <gtest/gtest.h>

#include <limits>

namespace spng::test {
namespace {

TEST(Digitizer, rounds_down_and_saturates) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const at::Tensor waveforms = at::tensor({0.0, 0.4, -0.1, 1e9, -1e9, nan, 6981.9, 6982.1}).view({1, -1});
    const at::Tensor counts = digitize(waveforms, at::tensor({9402.0}), 14);
    EXPECT_TRUE(
        counts.equal(at::tensor({9402, 9402, 9401, 16383, 0, 0, 16383, 16383}, at::kShort).view({1, -1})));
    EXPECT_TRUE(
        digitize(waveforms, at::tensor({5.0}), 12).select(1, 3).equal(at::tensor({4095}, at::kShort)));
}

TEST(Digitizer, baselines_by_channel) {
    const at::Tensor counts = digitize(at::zeros({2, 3}), at::tensor({10.0, 20.5}), 14);
    EXPECT_TRUE(counts.select(1, 0).equal(at::tensor({10, 20}, at::kShort)));
}

TEST(Digitizer, one_baseline_for_each_plane) {
    Components components;
    const Error error = error_of([&] { components.add("SPNGDigitizer:test", {{"baselines", {1, 2}}}); });
    EXPECT_EQ(error.text().where, "SPNGDigitizer:test, key baselines");
}

TEST(TrueRegions, any_tick_above_the_threshold) {
    const at::Tensor charge =
        at::tensor({0.F, 0.F, 501.F, 0.F, 500.F, 499.F, 0.F, 0.F, 0.F, 600.F}).view({1, -1});
    const at::Tensor regions = true_regions(charge, 500, 4);
    EXPECT_TRUE(regions.equal(at::tensor({1, 1, 1, 1, 0, 0, 0, 0, 1, 1}, at::kShort).view({1, -1})));
}

} // namespace
} // namespace spng::test
