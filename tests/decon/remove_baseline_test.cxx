// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/remove_baseline.h"

#include "tests/support/components.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace spng::test {
namespace {

TEST(RemoveBaseline, SubtractsTheMedianOfEachGoodChannel) {
    Components components;
    auto& node = dynamic_cast<Node&>(components.add("SPNGRemoveBaseline:test", nlohmann::json::object()));
    node.prepare(components.environment());
    auto channels = std::make_shared<ChannelTable>();
    channels->good = at::tensor({1, 1, 0}).to(at::kBool).unsqueeze(0);
    NamedTensor waveform;
    waveform.name = "gauss";
    waveform.unit = "electrons";
    waveform.channels = channels;
    waveform.data =
        at::tensor({-6e4F, -6e4F, -5.9e4F, -6.1e4F, 1.0F, 9.0F, 3.0F, 2.0F, 7.0F, 7.0F, 8.0F, 9.0F})
            .view({1, 3, 4});
    const auto input =
        std::make_shared<const TensorSet>(std::make_shared<const EventInfo>(), std::vector{waveform});
    const Ports outputs = node.call(0, {input}, {});
    const NamedTensor& seen = outputs.at(0)->only();
    EXPECT_EQ(seen.name, "decon_charge");
    EXPECT_EQ(seen.unit, "electrons");
    EXPECT_TRUE(
        seen.data.equal(at::tensor({0.0F, 0.0F, 1e3F, -1e3F, -1.0F, 7.0F, 1.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F})
                            .view({1, 3, 4})));
}

} // namespace
} // namespace spng::test
