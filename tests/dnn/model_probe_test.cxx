// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/model_probe.h"

#include "spng/io/data_path.h"
#include "spng/nodes/dnn/torch_script_model.h"
#include "tests/dnn/fake_model.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

using test::FakeModel;

/// Network whose output at t is its input at t - back.
FakeModel delayed(std::int64_t back) {
    return FakeModel([back](const at::Tensor& input) { return input.narrow(1, 0, 1).roll(back, 3); });
}

TEST(ModelProbe, HaloIsTheDelay) {
    const ModelLayout layout{.multiple = 4};
    EXPECT_EQ(measured_halo(delayed(0), layout, {1, 3, 8, 64}, c10::kCPU), 0);
    EXPECT_EQ(measured_halo(delayed(7), layout, {1, 3, 8, 64}, c10::kCPU), 7);
    EXPECT_EQ(measured_halo(delayed(-7), layout, {1, 3, 8, 64}, c10::kCPU), 7);
}

TEST(ModelProbe, HaloUsesFewChannels) {
    std::int64_t channels = 0;
    const FakeModel model([&](const at::Tensor& input) {
        channels = input.size(2);
        return input.narrow(1, 0, 1);
    });
    measured_halo(model, {.multiple = 4}, {2, 3, 800, 64}, c10::kCPU);
    EXPECT_EQ(channels, 64);
}

TEST(ModelProbe, HaloOfTheStandIn) {
    const auto model = load_torch_script(find_data_file("dnnroi-standin.ts"), c10::kCPU);
    ASSERT_EQ(model->metadata().halo, 4);
    // Counted from blocks of 4 samples: the fine branch reaches 2 samples, the pooled branch one block.
    EXPECT_EQ(measured_halo(*model, {.multiple = 4}, {1, 3, 8, 64}, c10::kCPU), 4);
}

TEST(ModelProbe, FeaturesFillTheUnitInterval) {
    const auto features = probe_features({2, 3, 5, 7}, c10::kCPU);
    EXPECT_EQ(features.scalar_type(), at::kFloat);
    EXPECT_GE(features.min().item<float>(), 0);
    EXPECT_LT(features.max().item<float>(), 1);
    EXPECT_NEAR(features.mean().item<float>(), 0.5, 0.02);
}

} // namespace
} // namespace spng
