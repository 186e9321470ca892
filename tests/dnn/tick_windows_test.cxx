#include "spng/nodes/dnn/tick_windows.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

using Windows = std::vector<TickWindow>;

TEST(TickWindows, OneWindowWhenNothingIsCut) {
    EXPECT_EQ(tick_windows(24, 0, 3, 4), (Windows{{0, 24, 0, 24}}));
    EXPECT_EQ(tick_windows(24, 24, 3, 4), (Windows{{0, 24, 0, 24}}));
}

TEST(TickWindows, ChunkGoesDownAndHaloUpToTheMultiple) {
    EXPECT_EQ(tick_windows(24, 10, 3, 4), (Windows{{0, 8, 0, 12}, {8, 16, 4, 20}, {16, 24, 12, 24}}));
}

TEST(TickWindows, LastWindowIsShorter) {
    EXPECT_EQ(tick_windows(20, 8, 0, 4), (Windows{{0, 8, 0, 8}, {8, 16, 8, 16}, {16, 20, 16, 20}}));
}

TEST(TickWindows, HaloLongerThanTheChunkStaysInside) {
    EXPECT_EQ(tick_windows(12, 4, 8, 4), (Windows{{0, 4, 0, 12}, {4, 8, 0, 12}, {8, 12, 0, 12}}));
}

TEST(TickWindows, ChunkBelowTheMultipleIsRejected) {
    EXPECT_THROW(tick_windows(24, 3, 0, 4), Error);
}

} // namespace
} // namespace spng
