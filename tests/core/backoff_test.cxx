// SPDX-License-Identifier: Apache-2.0
#include "spng/core/backoff.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace spng {
namespace {

TEST(Backoff, DoublesUpToTheLongest) {
    Backoff<> backoff(32, 100);
    EXPECT_TRUE(backoff.is_fresh());
    std::vector<std::uint64_t> pauses;
    for (int i = 0; i < 4; ++i) {
        pauses.push_back(backoff.next());
        EXPECT_FALSE(backoff.is_fresh());
    }
    EXPECT_EQ(pauses, (std::vector<std::uint64_t>{32, 64, 100, 100}));
    backoff.reset();
    EXPECT_TRUE(backoff.is_fresh());
    EXPECT_EQ(backoff.next(), 32U);
}

TEST(Backoff, TakesTimes) {
    using std::chrono::milliseconds;
    Backoff backoff(milliseconds(100), milliseconds(5000));
    EXPECT_EQ(backoff.next() + backoff.next(), milliseconds(300));
}

} // namespace
} // namespace spng
