// SPDX-License-Identifier: Apache-2.0
#include "spng/device/late_values.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace spng {
namespace {

class LateValuesOfAnEvent : public testing::Test {
protected:
    void add(const std::string& node, int value, int first_channel) {
        m_late.add(node, at::tensor(value),
                   at::tensor({first_channel, first_channel + 1}, at::kInt).view({1, 2}),
                   [this](const at::Tensor& values) {
                       ++m_calls;
                       return Notes{{"value", std::to_string(values.item<int>())}};
                   });
    }
    LateValues m_late;
    int m_calls = 0;
};

TEST_F(LateValuesOfAnEvent, ComeInTheOrderOfChannelsAndAreReadOnce) {
    add("anode10", 1, 20);
    add("anode2", 2, 0);
    const auto all = m_late.all();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0]->notes(), (Notes{{"value", "2"}}));
    EXPECT_EQ(all[1]->notes(), (Notes{{"value", "1"}}));
    EXPECT_EQ(all[0]->notes(), (Notes{{"value", "2"}}));
    EXPECT_EQ(m_calls, 2);
}

TEST_F(LateValuesOfAnEvent, OfARepeatedCallReplaceTheEarlierOnes) {
    add("a", 1, 0);
    const auto before = m_late.all();
    add("a", 3, 0);
    ASSERT_EQ(m_late.all().size(), 1U);
    EXPECT_EQ(m_late.all()[0]->notes(), (Notes{{"value", "3"}}));
    EXPECT_EQ(before[0]->notes(), (Notes{{"value", "1"}}));
}

} // namespace
} // namespace spng
