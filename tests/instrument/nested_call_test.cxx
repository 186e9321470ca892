// SPDX-License-Identifier: Apache-2.0
// Calls of services inside node calls.

#include "spng/instrument/meter/nested_call.h"

#include <gtest/gtest.h>

namespace {

using namespace spng::instrument;

TEST(NestedCalls, TakeOverEventAndMode) {
    NodeMeter node{{"SPNGDecon", "induction", "decon"}};
    NodeMeter service{{"SPNGTorchService", "", "service"}};
    { const NestedCall outside(service); }
    EXPECT_TRUE(service.calls().empty()) << "outside of node calls nothing is measured";
    {
        const NodeMeter::Call metered(node, 7, c10::kCPU, {});
        for (int i = 0; i < 2; ++i) {
            NestedCall nested(service);
            nested.count_bytes(100, 20);
            EXPECT_EQ(current_call().node, &service.identity());
            EXPECT_EQ(current_call().event, 7u);
        }
        EXPECT_EQ(current_call().node, &node.identity());
    }
    const auto inner = service.calls();
    const auto outer = node.calls();
    ASSERT_EQ(inner.size(), 2u);
    ASSERT_EQ(outer.size(), 1u);
    EXPECT_EQ(outer[0].depth, 0);
    for (const CallRecord& call : inner) {
        EXPECT_EQ(call.event, 7u);
        EXPECT_EQ(call.depth, 1);
        EXPECT_EQ(call.bytes_in, 100u);
        EXPECT_EQ(call.bytes_out, 20u);
        EXPECT_GE(call.start, outer[0].start);
    }
    EXPECT_EQ(outer[0].nested_wall, inner[0].wall + inner[1].wall);
}

} // namespace
