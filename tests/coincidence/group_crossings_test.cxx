// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/group_crossings.h"

#include "tests/detector/toy_face.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace {

using namespace spng;

/// Return the views U, V, W of a toy anode. All toy anodes have the same channels.
std::vector<AnodeView> views_of(const WireAnode& anode) {
    std::vector<AnodeView> views;
    for (int plane = 0; plane < 3; ++plane) {
        views.push_back({&anode, make_view(anode, {.plane = plane, .faces = {0}, .order = {1}})});
    }
    return views;
}

/// Return the pairs of rows that cross each row of the group.
std::map<int, std::set<std::pair<int, int>>> pairs_of(const GroupCrossings& group) {
    std::map<int, std::set<std::pair<int, int>>> result;
    const auto* offset = group.offsets.const_data_ptr<std::int32_t>();
    const auto* pair = group.pairs.const_data_ptr<std::int32_t>();
    for (int row = 0; row + 1 < group.offsets.numel(); ++row) {
        for (int i = offset[row]; i < offset[row + 1]; ++i) {
            result[row].insert({pair[2 * i], pair[2 * i + 1]});
        }
    }
    return result;
}

TEST(GroupCrossings, RowsOfOneAnode) {
    const WireAnode anode{.ident = 0, .faces = {test::toy_face(2, 2)}};
    // Rows: U 0 1, V 2 3, W 4 5 6; the group is U and V.
    const auto group = find_group_crossings(views_of(anode), 0, 2);
    EXPECT_EQ(group.first_row, 0);
    EXPECT_EQ(group.rows, 7);
    EXPECT_EQ(
        pairs_of(group),
        (std::map<int, std::set<std::pair<int, int>>>{
            {0, {{2, 4}, {3, 5}}}, {1, {{2, 5}, {3, 6}}}, {2, {{0, 4}, {1, 5}}}, {3, {{0, 5}, {1, 6}}}}));
}

TEST(GroupCrossings, AnodesInOneBatchMeetTheirOwnWiresOnly) {
    const WireAnode near{.ident = 0, .faces = {test::toy_face(2, 2)}};
    const WireAnode far{.ident = 1, .faces = {test::toy_face(3, 2)}};
    const auto a = views_of(near), b = views_of(far);
    // Group after group, as in a batch: U and V of both anodes, then W of both. Rows: near U 0 1, V 2 3;
    // far U 4 5 6, V 7 8; near W 9 10 11; far W 12 13 14 15.
    const std::vector<AnodeView> views{a[0], a[1], b[0], b[1], a[2], b[2]};
    const auto group = find_group_crossings(views, 0, 4);
    EXPECT_EQ(group.first_row, 0);
    EXPECT_EQ(group.rows, 16);
    EXPECT_EQ(pairs_of(group),
              (std::map<int, std::set<std::pair<int, int>>>{{0, {{2, 9}, {3, 10}}},
                                                            {1, {{2, 10}, {3, 11}}},
                                                            {2, {{0, 9}, {1, 10}}},
                                                            {3, {{0, 10}, {1, 11}}},
                                                            {4, {{7, 12}, {8, 13}}},
                                                            {5, {{7, 13}, {8, 14}}},
                                                            {6, {{7, 14}, {8, 15}}},
                                                            {7, {{4, 12}, {5, 13}, {6, 14}}},
                                                            {8, {{4, 13}, {5, 14}, {6, 15}}}}));
    const auto* beside = group.neighbours.const_data_ptr<std::int32_t>();
    const auto wide = group.neighbours.size(1);
    std::map<int, std::set<int>> neighbours;
    for (int row = 0; row < group.neighbours.size(0); ++row) {
        neighbours[row] = {beside + row * wide, beside + (row + 1) * wide};
        neighbours[row].erase(-1);
    }
    EXPECT_EQ(
        neighbours,
        (std::map<int, std::set<int>>{
            {0, {1}}, {1, {0}}, {2, {3}}, {3, {2}}, {4, {5}}, {5, {4, 6}}, {6, {5}}, {7, {8}}, {8, {7}}}));
}

TEST(GroupCrossings, AGroupBehindOthersIsNumberedFromItsOwnFirstRow) {
    const WireAnode near{.ident = 0, .faces = {test::toy_face(2, 2)}};
    const WireAnode far{.ident = 1, .faces = {test::toy_face(3, 2)}};
    const auto a = views_of(near), b = views_of(far);
    const auto group = find_group_crossings({a[0], a[1], b[0], b[1], a[2], b[2]}, 4, 2);
    EXPECT_EQ(group.first_row, 9);
    const auto pairs = pairs_of(group);
    EXPECT_EQ(pairs.at(0), (std::set<std::pair<int, int>>{{0, 2}}));
    EXPECT_EQ(pairs.at(6), (std::set<std::pair<int, int>>{{6, 8}}));
}

TEST(GroupCrossings, TheCacheKnowsAllArguments) {
    const auto folder = test::temporary_folder("crossings");
    const char* const variable = std::getenv("SPNG_CACHE");
    const std::string before = variable == nullptr ? "" : variable;
    const auto use_cache = [](const std::string& text) { setenv("SPNG_CACHE", text.c_str(), 1); };
    const WireAnode one{.ident = 0, .faces = {test::toy_face(2, 2)}},
        larger{.ident = 0, .faces = {test::toy_face(3, 2)}};
    WireAnode moved = one;
    moved.faces[0].planes[0].wires[0].tail.y += 1e-9;
    auto both = views_of(one);
    const auto second = views_of(larger);
    both.insert(both.end(), second.begin(), second.end());
    const std::vector<std::vector<AnodeView>> lists{views_of(one), views_of(larger), views_of(moved), both};
    for (std::size_t list = 0; list < lists.size(); ++list) {
        for (const std::size_t first : {0, 1}) {
            use_cache("off");
            const auto expected = find_group_crossings(lists[list], first, 2);
            use_cache(folder);
            for (int round = 0; round < 2; ++round) { // computed, then from the cache
                const auto group = find_group_crossings(lists[list], first, 2);
                EXPECT_EQ(group.first_row, expected.first_row);
                EXPECT_EQ(group.rows, expected.rows);
                EXPECT_TRUE(group.offsets.equal(expected.offsets));
                EXPECT_TRUE(group.pairs.equal(expected.pairs));
                EXPECT_TRUE(group.neighbours.equal(expected.neighbours));
            }
            EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}),
                      static_cast<std::ptrdiff_t>(2 * list + first + 1));
        }
    }
    before.empty() ? unsetenv("SPNG_CACHE") : setenv("SPNG_CACHE", before.c_str(), 1);
}

} // namespace
