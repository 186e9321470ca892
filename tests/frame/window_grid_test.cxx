#include "spng/nodes/frame/window_grid.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

constexpr WindowGrid grid{.core = 12, .before = 4, .after = 8, .align = 4};

/// All windows of a readout whose length is known.
std::vector<WindowPlace> windows_of(std::int64_t ticks) {
    std::vector<WindowPlace> places;
    while (const auto place = window_at(grid, static_cast<std::int64_t>(places.size()), ticks, true)) {
        places.push_back(*place);
    }
    return places;
}

TEST(WindowGrid, ByHand) {
    EXPECT_EQ(windows_of(48), (std::vector<WindowPlace>{{0, 24, 0, 16}, {12, 36, 16, 28}, {24, 48, 28, 48}}));
    // The last window is moved back to a multiple of four ticks, and keeps the core that it would have had.
    EXPECT_EQ(windows_of(50), (std::vector<WindowPlace>{
                                  {0, 24, 0, 16}, {12, 36, 16, 28}, {24, 48, 28, 40}, {28, 50, 40, 50}}));
}

TEST(WindowGrid, CoresFollowEachOtherAndWindowsAreOneShape) {
    for (std::int64_t ticks = grid.length() + 1; ticks < 200; ++ticks) {
        const auto places = windows_of(ticks);
        std::int64_t end = 0;
        for (std::size_t number = 0; number < places.size(); ++number) {
            const WindowPlace& place = places[number];
            const bool is_last = number + 1 == places.size();
            EXPECT_EQ(place.core_begin, end) << ticks;
            end = place.core_end;
            EXPECT_EQ(place.begin % grid.align, 0) << ticks;
            EXPECT_LE(place.end - place.begin, grid.length()) << ticks;
            EXPECT_GT(place.end - place.begin, grid.length() - (is_last ? grid.align : 1)) << ticks;
            EXPECT_GE(place.core_begin - place.begin, number == 0 ? 0 : grid.before) << ticks;
            if (number > 0) {
                EXPECT_GE(place.begin, places[number - 1].begin) << ticks;
                // What the window before sees beyond its core ends within this core.
                EXPECT_LE(places[number - 1].end, place.core_end) << ticks;
            }
            if (is_last) {
                EXPECT_GT(place.core_end - place.core_begin, grid.after) << ticks;
            } else {
                EXPECT_EQ(place.end - place.core_end, grid.after) << ticks;
            }
        }
        EXPECT_EQ(end, ticks);
    }
}

TEST(WindowGrid, WhatIsKnownEarlyStays) {
    const std::int64_t ticks = 133;
    const auto places = windows_of(ticks);
    for (std::int64_t known = 0; known < ticks; ++known) {
        for (std::size_t number = 0; number < places.size(); ++number) {
            const auto early = window_at(grid, static_cast<std::int64_t>(number), known, false);
            if (early) {
                EXPECT_EQ(*early, places[number]) << known;
            }
            // One tick beyond a window tells that it is not the last.
            EXPECT_EQ(early.has_value(), number + 1 < places.size() && places[number].end < known) << known;
        }
    }
}

} // namespace
} // namespace spng
