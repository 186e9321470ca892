// SPDX-License-Identifier: Apache-2.0
// The work of the network has its own row below the calling node.

#include "spng/nodes/dnn/torch_service.h"
#include "tests/dnn/script_model.h"
#include "tests/support/components.h"
#include "tests/support/paths.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace spng {
namespace {

TEST(ServiceMetering, ForwardIsACallBelowTheNode) {
    const auto folder = test::temporary_folder("service_metering");
    test::save_weighted_sum(folder / "network.ts", 1, 2, 4);
    test::Components components;
    components.add("SPNGTorchService:dnnroi",
                   {{"model", (folder / "network.ts").string()}, {"probe", {1, 5, 30}}});
    const auto& service = components.environment().service<TorchService>("SPNGTorchService:dnnroi", "test");
    auto& meter = const_cast<TorchService&>(service).meter();
    EXPECT_EQ(meter.identity().text(), "SPNGTorchService:dnnroi");
    EXPECT_EQ(meter.identity().kind, "service");
    EXPECT_TRUE(meter.calls().empty()) << "a trial of the network is not a call";

    const at::Tensor features = at::zeros({1, 3, 5, 30});
    instrument::NodeMeter node({"SPNGDNNROI", "induction", "dnn"});
    {
        const instrument::NodeMeter::Call call(node, 4, c10::kCPU, {});
        service.forward(features);
    }
    const auto calls = meter.calls();
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].event, 4u);
    EXPECT_EQ(calls[0].depth, 1);
    EXPECT_EQ(calls[0].bytes_in, 3u * 5 * 30 * 4);
    EXPECT_EQ(calls[0].bytes_out, 5u * 30 * 4);
    EXPECT_GT(calls[0].leaf_operations, 0u);
    const auto outer = node.calls().at(0);
    EXPECT_EQ(outer.leaf_operations, 0u) << "the operations are the network's";
    EXPECT_EQ(outer.nested_wall, calls[0].wall);
}

} // namespace
} // namespace spng
