// SPDX-License-Identifier: Apache-2.0
#include "spng/graph/tensor_node.h"

#include "tests/support/components.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace spng::test {
namespace {

/// Node that doubles samples.
class Doubled : public TensorNode<NoConfig> {
protected:
    NamedTensor step(NamedTensor tensor, const EventInfo& /*event*/) override {
        tensor.data = tensor.data * 2;
        return tensor;
    }
};

const Registration<Doubled> registration_of_doubled{
    {.type = "TestDoubled", .kind = "roi", .text = "twice the samples"}};

NamedTensor tensor_of(const char* name, double value) {
    NamedTensor tensor;
    tensor.name = name;
    tensor.data = at::full({1, 2, 3}, value);
    return tensor;
}

TEST(TensorNode, ReplacesTheFirstTensorAndPassesTheOthersOn) {
    Components components;
    auto& node = dynamic_cast<Node&>(components.add("TestDoubled:test", nlohmann::json::object()));
    node.prepare(components.environment());
    const auto input = std::make_shared<const TensorSet>(
        std::make_shared<const EventInfo>(), std::vector{tensor_of("signal", 3), tensor_of("roi", 1)});
    const Ports outputs = node.call(0, {input}, {});
    EXPECT_TRUE(outputs.at(0)->at("signal").data.equal(at::full({1, 2, 3}, 6.0)));
    EXPECT_TRUE(outputs.at(0)->at("roi").data.equal(at::full({1, 2, 3}, 1.0)));
    EXPECT_TRUE(input->at("signal").data.equal(at::full({1, 2, 3}, 3.0)));
    EXPECT_EQ(outputs.at(0)->event_ptr(), input->event_ptr());
}

TEST(TensorNode, HasDefaultsForPortsAndMemory) {
    const ComponentType& type = Registry::instance().find("TestDoubled")->type;
    EXPECT_EQ(type.inputs, std::vector<std::string>{"waveforms"});
    EXPECT_EQ(type.outputs, type.inputs);
    MemoryLedger ledger;
    PlannedTensor first{.views = 2, .channels = 10, .ticks = 100},
        second{.views = 1, .channels = 1, .ticks = 1};
    PlannedCall call{.ledger = ledger, .inputs = {{first, second}}, .outputs = 1, .real = 8};
    const Doubled node;
    const auto planned = type.memory->call(node, call);
    ASSERT_EQ(planned.size(), 1);
    ASSERT_EQ(planned[0].size(), 2);
    EXPECT_EQ(planned[0][0].samples(), 2000);
    EXPECT_EQ(planned[0][0].block->bytes(), 16'000);
    EXPECT_EQ(sum_of(ledger.at_peak()), 32'000); // with a temporary
}

TEST(Like, CopiesDescriptionsButNeitherNoiseNorEncodings) {
    NamedTensor tensor = tensor_of("image", 1);
    tensor.axes = {{"view", ""}, {"channel", ""}, {"tick", "ns", 5, 2000}};
    tensor.unit = "electrons";
    tensor.domain = Domain::frequency;
    tensor.channels = std::make_shared<const ChannelTable>();
    tensor.notes = {{"model", "none"}};
    tensor.summary = tensor.pedestal = tensor.expected_noise = at::zeros({1, 2});
    tensor.encoding = PackedMask{3};
    const at::Tensor data = at::zeros({1, 2, 3});
    const NamedTensor result = like(tensor, "result", data);
    EXPECT_EQ(result.name, "result");
    EXPECT_TRUE(result.data.is_same(data));
    EXPECT_EQ(result.axes.at(2).period, 2000);
    EXPECT_EQ(result.unit, "electrons");
    EXPECT_EQ(result.domain, Domain::frequency);
    EXPECT_EQ(result.channels, tensor.channels);
    EXPECT_EQ(result.notes, tensor.notes);
    EXPECT_FALSE(result.summary.defined() || result.pedestal.defined() || result.expected_noise.defined());
    EXPECT_EQ(result.packed(), nullptr);
}

} // namespace
} // namespace spng::test
