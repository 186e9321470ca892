// SPDX-License-Identifier: Apache-2.0
#include "spng/device/operation_threads.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace spng {
namespace {

/// Operations on as many elements as there are threads, one for each.
void operate() {
    at::parallel_for(0, at::get_num_threads(), 1, [](std::int64_t, std::int64_t) {});
}

TEST(OperationThreads, HoldInAThreadThatHasCalledNoOperation) {
    const int before = at::get_num_threads();
    const int wanted = before + 3;
    int at_first = 0, later = 0, after = 0;
    std::thread([&] {
        {
            const OperationThreads threads(wanted);
            operate();
            at_first = at::get_num_threads();
            operate();
            later = at::get_num_threads();
        }
        operate();
        after = at::get_num_threads();
    }).join();
    EXPECT_EQ(at_first, wanted);
    EXPECT_EQ(later, wanted);
    EXPECT_EQ(after, before);
    EXPECT_EQ(at::get_num_threads(), before);
}

} // namespace
} // namespace spng
