// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/charge_error.h"

#include "spng/core/rows/bit_ticks.h"
#include "spng/nodes/roi/rebaseline.h"
#include "tests/core/nothing_waits.h"
#include "tests/support/components.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace spng::test {
namespace {

constexpr std::int64_t factor = 4;

/// Stationary noise with a known covariance: white noise after a running sum with weights 1 .. 8 .. 1, which
/// keeps low frequencies.
struct KnownNoise {
    static constexpr std::int64_t reach = 8;
    static at::Tensor weights() { return at::arange(1 - reach, reach, at::kDouble).abs().neg().add(reach); }

    static at::Tensor waveform(std::int64_t views, std::int64_t channels, std::int64_t ticks) {
        at::manual_seed(5);
        const auto white = at::randn({views, channels, ticks + 2 * reach}, at::kDouble);
        auto sum = at::zeros({views, channels, ticks}, at::kDouble);
        for (std::int64_t lag = 0; lag < 2 * reach - 1; ++lag) {
            sum += white.narrow(-1, lag, ticks) * weights()[lag];
        }
        return sum;
    }

    /// Return the covariance matrix (tick, tick).
    static at::Tensor covariance(std::int64_t ticks) {
        auto matrix = at::zeros({ticks, ticks}, at::kDouble);
        for (std::int64_t lag = 0; lag < 2 * reach - 1; ++lag) {
            const std::int64_t common = 2 * reach - 1 - lag;
            const double value =
                (weights().narrow(0, 0, common) * weights().narrow(0, lag, common)).sum().item<double>();
            matrix.diagonal(lag).fill_(value);
            matrix.diagonal(-lag).fill_(value);
        }
        return matrix;
    }
};

using Rois = std::vector<std::pair<std::int64_t, std::int64_t>>; // first slice, end

at::Tensor mask_of(const Rois& rois, std::int64_t slices) {
    auto mask = at::zeros({slices}, at::kBool);
    for (const auto& [first, end] : rois) {
        mask.narrow(0, first, end - first).fill_(true);
    }
    return mask;
}

at::Tensor all_good(const at::Tensor& waveform) {
    return at::ones({waveform.size(0), waveform.size(1)}, at::kBool);
}

/// Return the errors of a call on every tick; the call must not wait for a device.
at::Tensor errors(const at::Tensor& waveform, const at::Tensor& mask, Baseline baseline) {
    const at::Tensor packed =
        pack_ticks(mask.expand({waveform.size(0), waveform.size(1), mask.size(-1)}).contiguous());
    const testing::NothingWaits watched;
    return charge_error(waveform, packed, all_good(waveform), factor, baseline)
        .repeat_interleave(factor, -1)
        .narrow(-1, 0, waveform.size(-1));
}

/// Compare the variance of each ROI, the mean over channels, with that of the operator itself: its result is
/// linear in the waveform while the charge is positive, so it gives the weight of each tick in the charge.
void expect_variances(const Rois& rois, Baseline baseline, double tolerance) {
    constexpr std::int64_t ticks = 1200;
    const at::Tensor mask = mask_of(rois, ticks / factor);
    const auto apply = baseline == Baseline::linear ? apply_regions_linear : apply_regions_restored;
    const at::Tensor units = at::eye(ticks, at::kDouble);
    const at::Tensor pulse = mask.repeat_interleave(factor, -1).mul(100.).expand_as(units);
    const at::Tensor packed = pack_ticks(mask.expand({ticks, ticks / factor}).contiguous());
    const at::Tensor of_units = apply(units + pulse, packed, factor) - apply(pulse, packed, factor);
    const at::Tensor squares = errors(KnownNoise::waveform(2, 200, ticks), mask, baseline).square().mean(1);
    for (const auto& [first, end] : rois) {
        const auto in_roi = [&, first = first, end = end](const at::Tensor& rows) {
            return rows.narrow(-1, first * factor, (end - first) * factor).sum(-1);
        };
        const at::Tensor weights = in_roi(of_units);
        const double expected = weights.dot(KnownNoise::covariance(ticks).mv(weights)).item<double>();
        for (const int view : {0, 1}) {
            const double seen = in_roi(squares[view]).item<double>();
            EXPECT_NEAR(seen / expected, 1, tolerance)
                << "slices " << first << " to " << end << " of view " << view;
        }
    }
}

TEST(ChargeError, IsThatOfTheSumAfterALineThroughLevels) {
    // Without a level at either end of the row, near neighbours, 8 to 400 ticks.
    expect_variances({{0, 6}, {20, 22}, {23, 28}, {29, 30}, {60, 70}, {120, 220}, {290, 300}},
                     Baseline::linear, 0.05);
}

TEST(ChargeError, IsThatOfTheSumAfterTheMeanOutside) {
    expect_variances({{0, 6}, {20, 22}, {60, 70}, {120, 145}}, Baseline::restored, 0.06);
}

TEST(ChargeError, FollowsTheNoiseOfAChannelAndNotItsCharge) {
    const at::Tensor mask = mask_of({{20, 25}, {60, 90}}, 250);
    const at::Tensor waveform = KnownNoise::waveform(1, 40, 1000);
    const at::Tensor nominal = errors(waveform, mask, Baseline::linear);
    EXPECT_TRUE(nominal.gt(0).equal(mask.repeat_interleave(factor).expand_as(nominal)));

    const at::Tensor charged = waveform.clone();
    charged.narrow(-1, 80, 20).add_(5000);
    charged.narrow(-1, 240, 120).add_(300);
    EXPECT_LT(
        (errors(charged, mask, Baseline::linear) / nominal - 1).abs().nan_to_num(0).max().item<double>(),
        1e-12);

    charged.select(1, 7).mul_(2);
    const at::Tensor seen = errors(charged, mask, Baseline::linear);
    EXPECT_TRUE(seen.select(1, 7).allclose(2 * nominal.select(1, 7), 0.02));
    EXPECT_TRUE(seen.narrow(1, 8, 32).allclose(nominal.narrow(1, 8, 32), 0.02));
}

TEST(ChargeError, DriftOfFewChannelsDoesNotChangeTheOthers) {
    const at::Tensor mask = mask_of({{20, 25}, {60, 90}}, 250);
    const at::Tensor waveform = KnownNoise::waveform(1, 100, 1000);
    const at::Tensor nominal = errors(waveform, mask, Baseline::linear);
    waveform.narrow(1, 0, 3).add_(at::arange(1000, at::kDouble).mul(0.01).sin().mul(2000));
    const at::Tensor seen = errors(waveform, mask, Baseline::linear);
    EXPECT_TRUE(seen.narrow(1, 3, 97).allclose(nominal.narrow(1, 3, 97), 0.02));
}

TEST(ChargeError, AChannelWithoutNoiseToMeasureHasThatOfItsView) {
    const at::Tensor waveform = KnownNoise::waveform(1, 40, 1000);
    at::Tensor mask = at::zeros({1, 40, 250}, at::kBool);
    mask.select(1, 3).fill_(true);
    const at::Tensor error = errors(waveform, mask, Baseline::restored);
    EXPECT_GT(error[0][3][0].item<double>(), 0);
    EXPECT_TRUE(std::isfinite(error[0][3][0].item<double>()));
    mask.fill_(true);
    EXPECT_EQ(errors(waveform, mask, Baseline::restored).min().item<double>(),
              std::numeric_limits<double>::infinity());
}

TEST(ChargeError, SquaresOfAnIncompleteLastSliceCountOnce) {
    // 998 ticks: the last slice has two.
    const at::Tensor waveform = KnownNoise::waveform(1, 40, 998);
    const at::Tensor end = errors(waveform, mask_of({{240, 250}}, 250), Baseline::restored);
    const at::Tensor middle = errors(waveform, mask_of({{120, 130}}, 250), Baseline::restored);
    const double ratio = (end.square().sum() / middle.square().sum()).item<double>();
    EXPECT_NEAR(ratio, 1, 0.03);
}

TEST(ChargeError, NodeGivesTheErrorAtTheSamplingOfTheMask) {
    Components components;
    auto& node = dynamic_cast<Node&>(components.add("SPNGChargeError:test", {{"baseline", "restored"}}));
    node.prepare(components.environment());
    NamedTensor waveform, roi;
    waveform.name = "gauss";
    waveform.unit = "electrons";
    waveform.data = KnownNoise::waveform(1, 40, 1000).to(at::kFloat);
    waveform.axes = {{"view", "", 0, 1}, {"channel", "", 0, 1}, {"tick", "ns", 0, 500}};
    auto channels = std::make_shared<ChannelTable>();
    channels->good = all_good(waveform.data);
    waveform.channels = std::move(channels);
    roi.name = "roi";
    roi.data = mask_of({{20, 25}}, 250).expand({1, 40, 250}).contiguous();
    roi.axes = {{"view", "", 0, 1}, {"channel", "", 0, 1}, {"tick", "ns", 0, 2000}};
    auto event = std::make_shared<EventInfo>();
    event->window = ReadoutWindow{};
    const auto set = [&](const NamedTensor& tensor) {
        return std::make_shared<const TensorSet>(event, std::vector{tensor});
    };
    const Ports outputs = node.call(0, {set(waveform), set(roi)}, {});
    const NamedTensor& error = outputs.at(0)->at("error");
    EXPECT_TRUE(error.data.equal(
        charge_error(waveform.data, pack_ticks(roi.data), waveform.channels->good, 4, Baseline::restored)));
    EXPECT_EQ(error.data.scalar_type(), at::kFloat);
    EXPECT_EQ(error.axes.back().period, 2000);
    EXPECT_EQ(error.unit, "electrons");
    EXPECT_NE(outputs.at(0)->find("roi"), nullptr) << "SPNGStitchWindows needs the ROIs of a readout window";
}

TEST(ChargeError, AbsentChannelsHaveNoPart) {
    // 100 of 480 channels; the others hold the rounding of a transform, as those that a frame lacks.
    const at::Tensor alone = KnownNoise::waveform(1, 100, 1000);
    at::Tensor waveform = at::randn({1, 480, 1000}, at::kDouble) * 1e-5;
    waveform.narrow(1, 333, 100).copy_(alone);
    at::Tensor good = at::zeros({1, 480}, at::kBool);
    good.narrow(1, 333, 100).fill_(true);
    const at::Tensor mask = mask_of({{20, 25}, {100, 140}}, 250);
    const auto packed = [&](std::int64_t channels) {
        return pack_ticks(mask.expand({1, channels, 250}).contiguous());
    };
    for (const Baseline baseline : {Baseline::linear, Baseline::restored}) {
        const auto few = charge_error(waveform, packed(480), good, factor, baseline).narrow(1, 333, 100);
        const auto expected = charge_error(alone, packed(100), all_good(alone), factor, baseline);
        EXPECT_LT((few - expected).abs().max().item<double>(), 1e-6 * expected.max().item<double>());
    }
}

TEST(ChargeError, RejectsOtherShapes) {
    const Error error = error_of([] {
        charge_error(at::zeros({4, 100}), at::zeros({4, 1}, at::kLong), at::zeros({4}, at::kBool), 4,
                     Baseline::linear);
    });
    EXPECT_NE(error.text().expected.find("(view, channel, tick)"), std::string::npos);
}

} // namespace
} // namespace spng::test
