// SPDX-License-Identifier: Apache-2.0
#include "spng/device/late_values.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace spng {
namespace {

LateValues::Reader reader(const std::string& key, int& calls) {
    return [key, &calls](const at::Tensor& values) {
        ++calls;
        return Notes{{key, std::to_string(values.item<int>())}};
    };
}

TEST(LateValues, AreReadOnceAndNotesOfAllNodesJoin) {
    LateValues late;
    int calls = 0;
    late.add("b", at::tensor(2), reader("noise", calls));
    late.add("a", at::tensor(1), reader("noise", calls));
    late.begin_copies();
    EXPECT_EQ(late.notes(), (Notes{{"noise", "1\n2"}})); // in the order of names, not of calls
    EXPECT_EQ(late.notes(), (Notes{{"noise", "1\n2"}}));
    EXPECT_EQ(calls, 2);
}

TEST(LateValues, OfARepeatedCallReplaceTheEarlierOnes) {
    LateValues late;
    int calls = 0;
    late.add("a", at::tensor(1), reader("noise", calls));
    late.add("a", at::tensor(3), reader("noise", calls));
    EXPECT_EQ(late.entries().size(), 1u);
    EXPECT_EQ(late.notes(), (Notes{{"noise", "3"}}));
    EXPECT_EQ(calls, 1);
}

} // namespace
} // namespace spng
