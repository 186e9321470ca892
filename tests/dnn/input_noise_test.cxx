// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/input/input_noise.h"

#include "spng/core/error.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace spng {
namespace {

constexpr double hot = 1.8;

at::Tensor row(const std::vector<double>& values) {
    return at::tensor(values, at::kDouble).unsqueeze(0);
}

at::Tensor training(double noise) {
    return at::tensor({noise}, at::kDouble).unsqueeze(1);
}

TEST(InputNoise, DivisorIsOneAtOrBelowTheTrainingNoise) {
    for (const double noise : {0.0, 30.0, 99.0, 100.0}) {
        const auto found = input_noise(row({noise, noise, noise}), {}, training(100), hot);
        EXPECT_EQ(found.ratio[0].item<double>(), noise / 100);
        EXPECT_TRUE(at::equal(found.divisor, row({1, 1, 1}))) << found.divisor;
    }
}

TEST(InputNoise, TwiceTheNoiseHalvesTheImage) {
    const auto found = input_noise(row({200, 150, 210}), {}, training(100), hot);
    EXPECT_EQ(found.ratio[0].item<double>(), 2.0) << "the median of the channels";
    EXPECT_TRUE(at::equal(found.divisor, row({2, 2, 2}))) << found.divisor;
}

TEST(InputNoise, AHotChannelIsDividedByItsOwnNoise) {
    const auto quiet = input_noise(row({100, 100, 100, 180, 300}), {}, training(100), hot);
    EXPECT_TRUE(at::equal(quiet.divisor, row({1, 1, 1, 1, 3}))) << quiet.divisor;
    const auto noisy = input_noise(row({200, 200, 200, 360, 600}), {}, training(100), hot);
    EXPECT_TRUE(at::equal(noisy.divisor, row({2, 2, 2, 2, 6}))) << noisy.divisor;
    // A channel below the noise of the training is not hot, even in a view with little noise.
    const auto still = input_noise(row({10, 10, 10, 50, 170}), {}, training(100), hot);
    EXPECT_TRUE(at::equal(still.divisor, row({1, 1, 1, 1, 1}))) << still.divisor;
}

TEST(InputNoise, BadChannelsDoNotCount) {
    const auto rms = row({0, 0, 0, 250, 250});
    const auto good = at::tensor({0, 0, 0, 1, 1}).to(at::kBool).unsqueeze(0);
    EXPECT_EQ(input_noise(rms, good, training(100), hot).ratio[0].item<double>(), 2.5);
    EXPECT_EQ(input_noise(rms, {}, training(100), hot).ratio[0].item<double>(), 0.0);
}

TEST(InputNoise, ViewWithoutGoodChannelsHasDivisorOne) {
    const auto none = at::zeros({1, 2}, at::kBool);
    const auto found = input_noise(row({100, 60}), none, training(100), hot);
    EXPECT_TRUE(std::isnan(found.ratio[0].item<double>()));
    EXPECT_TRUE(at::equal(found.divisor, row({1, 1}))) << found.divisor;
}

TEST(InputNoise, FewChannelsAreNotMeasured) {
    const at::Tensor rms = at::full({2, 100}, 1e-5, at::kDouble),
                     expected = at::full({2, 1}, 1.5, at::kDouble);
    at::Tensor good = at::zeros({2, 100}, at::kBool);
    for (const auto& [view, count] : {std::pair{0, 9}, std::pair{1, 10}}) { // a track on most of the channels
        rms[view].narrow(0, 5, count).fill_(400);
        good[view].narrow(0, 5, count).fill_(true);
    }
    const at::Tensor of_training = at::tensor({100., 100.}).to(at::kDouble).unsqueeze(1);
    const auto measured = input_noise(rms, good, of_training, hot);
    EXPECT_TRUE(at::equal(measured.ratio, at::tensor({4., 4.}).to(at::kDouble)));
    const auto found = input_noise(rms, good, of_training, hot, expected);
    EXPECT_TRUE(std::isnan(found.ratio[0].item<double>()));
    EXPECT_EQ(found.ratio[1].item<double>(), 4);
    EXPECT_EQ(found.divisor[0][0].item<double>(), 1.5);
    EXPECT_EQ(found.divisor[1][0].item<double>(), 4);
}

TEST(InputNoise, EachViewHasItsOwn) {
    const auto rms = at::tensor({100.F, 100.F, 400.F, 400.F}).view({2, 2});
    const auto of_training = at::tensor({100.F, 200.F}).view({2, 1});
    const auto found = input_noise(rms, {}, of_training, hot);
    EXPECT_TRUE(at::equal(found.ratio, at::tensor({1.F, 2.F})));
    EXPECT_TRUE(at::equal(found.divisor, at::tensor({1.F, 1.F, 2.F, 2.F}).view({2, 2})));
}

TEST(InputNoise, RejectsOtherShapesAndTypes) {
    EXPECT_THROW(input_noise(at::zeros({2}), {}, training(100), hot), Error);
    EXPECT_THROW(input_noise(row({1, 2}), {}, at::zeros({1, 2}, at::kDouble), hot), Error);
    EXPECT_THROW(input_noise(row({1, 2}), {}, at::zeros({1, 1}), hot), Error);
    EXPECT_THROW(input_noise(row({1, 2}), at::zeros({1, 3}, at::kBool), training(100), hot), Error);
}

} // namespace
} // namespace spng
