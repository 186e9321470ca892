// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/window_grid.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

constexpr WindowGrid grid{.core = 12, .before = 4, .after = 8, .align = 4};

/// Return all readout windows of a complete readout.
std::vector<WindowPosition> windows_of(std::int64_t ticks) {
    std::vector<WindowPosition> windows;
    while (const auto window = window_at(grid, static_cast<std::int64_t>(windows.size()), ticks, true)) {
        windows.push_back(*window);
    }
    return windows;
}

TEST(WindowGrid, ByHand) {
    EXPECT_EQ(windows_of(48),
              (std::vector<WindowPosition>{{0, 24, 0, 16}, {12, 36, 16, 28}, {24, 48, 28, 48}}));
    // The last window is moved back to a multiple of four ticks; its core does not move.
    EXPECT_EQ(windows_of(50), (std::vector<WindowPosition>{
                                  {0, 24, 0, 16}, {12, 36, 16, 28}, {24, 48, 28, 40}, {28, 50, 40, 50}}));
}

TEST(WindowGrid, CoresFollowEachOtherAndWindowsAreOneShape) {
    for (std::int64_t ticks = grid.length() + 1; ticks < 200; ++ticks) {
        const auto windows = windows_of(ticks);
        std::int64_t end = 0;
        for (std::size_t index = 0; index < windows.size(); ++index) {
            const WindowPosition& window = windows[index];
            const bool is_last = index + 1 == windows.size();
            EXPECT_EQ(window.core_begin, end) << ticks;
            end = window.core_end;
            EXPECT_EQ(window.begin % grid.align, 0) << ticks;
            EXPECT_LE(window.end - window.begin, grid.length()) << ticks;
            EXPECT_GT(window.end - window.begin, grid.length() - (is_last ? grid.align : 1)) << ticks;
            EXPECT_GE(window.core_begin - window.begin, index == 0 ? 0 : grid.before) << ticks;
            if (index > 0) {
                EXPECT_GE(window.begin, windows[index - 1].begin) << ticks;
                // The ticks after the core of the previous window end within this core.
                EXPECT_LE(windows[index - 1].end, window.core_end) << ticks;
            }
            if (is_last) {
                EXPECT_GT(window.core_end - window.core_begin, grid.after) << ticks;
            } else {
                EXPECT_EQ(window.end - window.core_end, grid.after) << ticks;
            }
        }
        EXPECT_EQ(end, ticks);
    }
}

TEST(WindowGrid, EarlyWindowsStayValid) {
    const std::int64_t ticks = 133;
    const auto windows = windows_of(ticks);
    for (std::int64_t known = 0; known < ticks; ++known) {
        for (std::size_t index = 0; index < windows.size(); ++index) {
            const auto early = window_at(grid, static_cast<std::int64_t>(index), known, false);
            if (early) {
                EXPECT_EQ(*early, windows[index]) << known;
            }
            // One tick beyond a readout window shows that it is not the last.
            EXPECT_EQ(early.has_value(), index + 1 < windows.size() && windows[index].end < known) << known;
        }
    }
}

} // namespace
} // namespace spng
