// SPDX-License-Identifier: Apache-2.0
// Networks in bfloat16: precision of the output, and no lasting effect of the scope.

#include "spng/device/bfloat16.h"

#include "spng/nodes/dnn/torch_script_model.h"
#include "tests/dnn/script_model.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace spng {
namespace {

at::Tensor convolved() {
    return at::conv2d(at::ones({1, 1, 4, 4}), at::ones({1, 1, 1, 1}));
}

TEST(Bfloat16, AppliesToItsScopeAndKindOfDevice) {
    EXPECT_EQ(convolved().scalar_type(), at::kFloat);
    {
        const Bfloat16Scope scope(c10::kCPU);
        EXPECT_EQ(convolved().scalar_type(), at::kBFloat16);
        EXPECT_EQ(at::ones({2}).add(1).scalar_type(), at::kFloat);
        EXPECT_FALSE(at::autocast::is_autocast_enabled(c10::kCUDA));
    }
    EXPECT_EQ(convolved().scalar_type(), at::kFloat);
    EXPECT_TRUE(at::autocast::is_autocast_cache_enabled());
    {
        const Bfloat16Scope other(c10::kCUDA);
        EXPECT_EQ(convolved().scalar_type(), at::kFloat);
    }
}

TEST(Bfloat16, IsFalseForMissingDevices) {
    EXPECT_FALSE(has_bfloat16({c10::kCUDA, 99}));
}

TEST(Bfloat16, NetworkGivesFloat32WithEightBits) {
    const auto folder = std::filesystem::temp_directory_path() / "spng-bfloat16-test";
    std::filesystem::create_directories(folder);
    const auto file = folder / "sum.ts";
    test::save_weighted_sum(file, 0.3F, -0.7F, 0.2F);
    const auto exact = load_torch_script(file, c10::kCPU);
    const auto fast = load_torch_script(file, c10::kCPU, true);
    std::filesystem::remove_all(folder);
    const at::Tensor input = at::rand({1, 3, 32, 32});
    const at::Tensor seen = fast->forward(input);
    EXPECT_EQ(seen.scalar_type(), at::kFloat);
    const double off = seen.sub(exact->forward(input)).abs().max().item<double>();
    EXPECT_LT(off, 0.01);
    EXPECT_GT(off, 1e-5); // not 0, so bfloat16 was used
    EXPECT_FALSE(at::autocast::is_autocast_enabled(c10::kCPU));
}

} // namespace
} // namespace spng
