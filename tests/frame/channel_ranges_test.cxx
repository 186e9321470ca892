// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/channel_ranges.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

TEST(ChannelRanges, MergedWhereTheyTouch) {
    const auto merged = merged_by_channel({{2, 5, 9}, {1, 3, 6}, {1, 0, 3}, {1, 8, 9}, {2, 7, 8}, {3, 4, 4}});
    EXPECT_EQ(merged.at(1), (std::vector<ChannelRange>{{1, 0, 6}, {1, 8, 9}}));
    EXPECT_EQ(merged.at(2), (std::vector<ChannelRange>{{2, 5, 9}}));
    EXPECT_TRUE(merged.at(3).empty());
}

TEST(ChannelRanges, WithinTicksTheyAreCutAndMoved) {
    const ChannelMasks masks{{"bad", {{7, 15, 30}, {7, 0, 12}, {5, 18, 100}}}, {"noisy", {{7, 0, 10}}}};
    const ChannelMasks expected{{"bad", {{5, 8, 10}, {7, 0, 2}, {7, 5, 10}}}};
    EXPECT_EQ(masks_within(masks, 10, 20), expected);
}

TEST(ChannelRanges, ResultDoesNotDependOnEarlierCuts) {
    const ChannelMasks whole{{"bad", {{7, 3, 40}, {8, 0, 40}}}};
    ChannelMasks pieces;
    for (std::int64_t begin = 0; begin < 40; begin += 8) {
        add_masks(pieces, masks_within(whole, begin, begin + 8), begin);
    }
    EXPECT_EQ(masks_within(pieces, 0, 40), masks_within(whole, 0, 40));
    EXPECT_EQ(masks_within(pieces, 5, 29), masks_within(whole, 5, 29));
}

TEST(ChannelRanges, SaturationIsNotedWithoutDeadChannels) {
    Notes notes;
    note_findings(notes, {{"bad", {{7, 3, 40}}}, {"saturated", {{9, 0, 50}}}}, 50);
    EXPECT_TRUE(notes.empty());
    note_findings(notes, {{"saturated", {{7, 3, 5}, {7, 4, 9}, {8, 0, 1}, {9, 0, 50}}}}, 50);
    EXPECT_EQ(notes, (Notes{{"saturated", "7 samples on 2 channels"}}));
}

TEST(ChannelRanges, ChannelsThatCannotBeUsedAreNoted) {
    Notes notes;
    note_findings(notes,
                  {{"missing", {{3, 0, 50}, {4, 0, 50}}},
                   {"nan", {{7, 0, 50}}},
                   {"outofrange", {}},
                   {"bad", {{9, 0, 9}}}},
                  50);
    EXPECT_EQ(notes, (Notes{{"missing", "2 channels"}, {"nan", "1 channel"}}));
}

} // namespace
} // namespace spng
