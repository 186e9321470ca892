// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/network_choice.h"

#include "spng/nodes/dnn/torch_script_model.h"
#include "tests/dnn/fake_model.h"
#include "tests/dnn/script_model.h"
#include "tests/support/paths.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace spng {
namespace {

/// Forms by their times [ns]: (bfloat16, layout).
using Times = std::map<std::pair<bool, NetworkLayout>, std::int64_t>;

/// Choose with a clock that gives these times.
ChosenNetwork chosen_by(const Times& times, bool bfloat16, const std::string& key = "") {
    NetworkForm loaded;
    return fastest_network(
        key, bfloat16,
        [&](NetworkForm form) {
            loaded = form;
            return std::make_unique<const ModelRunner>(
                std::make_unique<test::FakeModel>([](const at::Tensor& input) { return input; }),
                ModelRunnerOptions{});
        },
        [&](const ModelRunner&) { return times.at({loaded.bfloat16, loaded.layout}); });
}

constexpr auto contiguous = NetworkLayout::contiguous, channels_last = NetworkLayout::channels_last;

TEST(NetworkChoice, TakesTheFasterLayout) {
    const auto first = chosen_by({{{false, contiguous}, 160'000}, {{false, channels_last}, 770'000}}, false);
    EXPECT_EQ(first.form.layout, contiguous);
    EXPECT_EQ(first.reason, "float32 contiguous 160 us, channels last 770 us");
    EXPECT_NE(first.runner, nullptr);
    const auto with_channels_last = [](std::int64_t time) {
        return chosen_by({{{false, contiguous}, 100}, {{false, channels_last}, time}}, false).form.layout;
    };
    EXPECT_EQ(with_channels_last(89), channels_last);
    EXPECT_EQ(with_channels_last(90), contiguous) << "noise of the clock does not decide";
}

TEST(NetworkChoice, KeepsBfloat16AsAskedAndTellsIfFloat32IsFaster) {
    const Times times{{{true, contiguous}, 500},
                      {{true, channels_last}, 400},
                      {{false, contiguous}, 300},
                      {{false, channels_last}, 900}};
    const auto chosen = chosen_by(times, true);
    EXPECT_TRUE(chosen.form.bfloat16);
    EXPECT_EQ(chosen.form.layout, channels_last);
    EXPECT_NE(chosen.reason.find("; float32 would be faster: -A precision=exact"), std::string::npos);
    Times others = times;
    others[{false, contiguous}] = 401;
    EXPECT_EQ(chosen_by(others, true).reason.find("faster"), std::string::npos);
}

TEST(NetworkChoice, IsRememberedForOtherReplicas) {
    EXPECT_EQ(chosen_layout("this"), std::nullopt);
    chosen_by({{{false, contiguous}, 100}, {{false, channels_last}, 50}}, false, "this");
    chosen_by({{{false, contiguous}, 50}, {{false, channels_last}, 100}}, false, "that");
    EXPECT_EQ(chosen_layout("this"), channels_last);
    EXPECT_EQ(chosen_layout("that"), contiguous);
}

/// A network with two convolutions and a conversion of the layout between them, as training saves it.
TEST(NetworkLayoutTest, ChangesStridesAndNotValues) {
    const auto file = test::temporary_folder("network_layout") / "network.ts";
    test::save_script_model(
        file,
        "def forward(self, x):\n"
        "    y = torch.conv2d(x, self.first).contiguous(memory_format=2)\n" // channels last
        "    return torch.conv2d(y, self.second)\n",
        {{"first", at::rand({4, 3, 1, 1})},
         {"second", at::rand({2, 4, 3, 3}).contiguous(at::MemoryFormat::ChannelsLast)}});
    const at::Tensor input = at::rand({2, 3, 8, 16});
    const at::Tensor expected = load_torch_script(file, c10::kCPU)->forward(input);
    const auto with = [&](NetworkLayout layout) {
        return load_torch_script(file, c10::kCPU, false, layout)->forward(input);
    };
    const at::Tensor plain = with(contiguous), last = with(channels_last);
    EXPECT_TRUE(at::allclose(plain, expected, 1e-6, 1e-6) && at::allclose(last, expected, 1e-6, 1e-6));
    EXPECT_EQ(plain.sizes(), expected.sizes());
    EXPECT_TRUE(plain.is_contiguous());
    EXPECT_TRUE(last.is_contiguous(at::MemoryFormat::ChannelsLast));
}

} // namespace
} // namespace spng
