// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/wire_crossings.h"

#include "spng/core/error.h"
#include "tests/detector/detector_files.h"
#include "tests/detector/toy_face.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <tuple>

namespace {

using namespace spng;

std::vector<int> values(const at::Tensor& tensor) {
    EXPECT_EQ(tensor.scalar_type(), at::kInt);
    EXPECT_TRUE(tensor.is_contiguous());
    const auto* data = tensor.const_data_ptr<std::int32_t>();
    return {data, data + tensor.numel()};
}

/// Return the ordered views of a ProtoDUNE-HD anode.
std::vector<ChannelView> two_faced_views(const WireAnode& anode) {
    return {make_view(anode, {.plane = 0, .faces = {1, 0}, .order = {-1, 1}}),
            make_view(anode, {.plane = 1, .faces = {1, 0}, .order = {-1, 1}}),
            make_view(anode, {.plane = 2, .faces = {0}, .order = {1}}),
            make_view(anode, {.plane = 2, .faces = {1}, .order = {1}})};
}

std::vector<ChannelView> toy_views(const WireAnode& anode) {
    std::vector<ChannelView> views;
    for (int plane = 0; plane < 3; ++plane) {
        views.push_back(make_view(anode, {.plane = plane, .faces = {0}, .order = {1}}));
    }
    return views;
}

TEST(WireCrossings, ToyFaceByHand) {
    // Rows: U 0 1, V 2 3, W 4 5 6. Cells (u, v, w): (0,2,4) (0,3,5) (1,2,5) (1,3,6).
    const WireAnode anode{.ident = 0, .faces = {test::toy_face(2, 2)}};
    const auto views = toy_views(anode);
    const AnodeCells cells = find_anode_cells(anode, views);
    EXPECT_EQ(cells.size(), 4U);

    const WireCrossings table_u = make_wire_crossings(anode, views, cells, 0);
    EXPECT_EQ(values(table_u.target_rows), (std::vector<int>{0, 1}));
    EXPECT_EQ(values(table_u.offsets), (std::vector<int>{0, 2, 4}));
    EXPECT_EQ(values(table_u.pairs), (std::vector<int>{2, 4, 3, 5, 2, 5, 3, 6}));
    EXPECT_EQ(values(table_u.neighbour_offsets), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(values(table_u.neighbours), (std::vector<int>{1, 0}));

    const WireCrossings table_v = make_wire_crossings(anode, views, cells, 1);
    EXPECT_EQ(table_v.auxiliary_planes, (std::array<int, 2>{0, 2}));
    EXPECT_EQ(values(table_v.target_rows), (std::vector<int>{2, 3}));
    EXPECT_EQ(values(table_v.pairs), (std::vector<int>{0, 4, 1, 5, 0, 5, 1, 6}));

    const WireCrossings table_w = make_wire_crossings(anode, views, cells, 2);
    EXPECT_EQ(values(table_w.target_rows), (std::vector<int>{4, 5, 6}));
    EXPECT_EQ(values(table_w.offsets), (std::vector<int>{0, 1, 3, 4}));
    EXPECT_EQ(values(table_w.pairs), (std::vector<int>{0, 2, 0, 3, 1, 2, 1, 3}));
    EXPECT_EQ(values(table_w.neighbours), (std::vector<int>{1, 0, 2, 1}));
}

TEST(WireCrossings, PairOnTwoSegmentsIsListedOnce) {
    WireAnode anode{.ident = 0, .faces = {test::toy_face(2, 2)}};
    anode.faces[0].planes[0].wires[1].channel = 100; // both U wires are one channel
    anode.faces[0].planes[0].wires[1].segment = 1;
    anode.faces[0].planes[2].wires[1].channel = 300; // and W wires 0 and 1 are one
    anode.faces[0].planes[2].wires[1].segment = 1;
    // Rows: U 0, V 1 2, W 3 4. Cells: (0,1,3) (0,2,3) (0,1,3) again, (0,2,4).
    const auto views = toy_views(anode);
    const WireCrossings table = make_wire_crossings(anode, views, find_anode_cells(anode, views), 0);
    EXPECT_EQ(values(table.pairs), (std::vector<int>{1, 3, 2, 3, 2, 4}));
    EXPECT_EQ(values(table.neighbours), std::vector<int>{}) << "a channel is not its own neighbour";
}

TEST(WireCrossings, ChannelsWithoutAViewAreSkipped) {
    const WireAnode anode{.ident = 0, .faces = {test::toy_face(2, 2)}};
    auto views = toy_views(anode);
    views[1].channels.pop_back();
    const AnodeCells cells = find_anode_cells(anode, views);
    EXPECT_EQ(cells.size(), 2U);
    EXPECT_EQ(cells.without_row, 2U);
    EXPECT_EQ(values(make_wire_crossings(anode, views, cells, 1).offsets), (std::vector<int>{0, 2}));
}

TEST(WireCrossings, InvalidArgumentsAreRejected) {
    const WireAnode anode{.ident = 0, .faces = {test::toy_face(2, 2)}};
    auto views = toy_views(anode);
    const AnodeCells cells = find_anode_cells(anode, views);
    EXPECT_THROW(make_wire_crossings(anode, views, cells, 3), Error);
    views.push_back(views[0]);
    EXPECT_THROW(find_anode_cells(anode, views), Error);
}

TEST(WireCrossings, ProtoduneHd) {
    const WireSchema schema = load_wires(test::data_file("protodunehd-wires-larsoft-v1.json.gz"));
    for (const WireAnode& anode : schema.anodes) {
        const auto views = two_faced_views(anode);
        const AnodeCells cells = find_anode_cells(anode, views);
        EXPECT_EQ(cells.size(), 1201388U);
        EXPECT_EQ(cells.without_row, 0U);
        const int begin[] = {0, 800, 1600, 2560};
        for (int plane = 0; plane < 3; ++plane) {
            const WireCrossings table = make_wire_crossings(anode, views, cells, plane);
            EXPECT_EQ(table.pairs.size(0), 1201388);
            const std::vector<int> targets = values(table.target_rows);
            ASSERT_EQ(static_cast<int>(targets.size()), begin[plane + 1] - begin[plane]);
            EXPECT_EQ(targets.front(), begin[plane]);
            EXPECT_EQ(targets.back(), begin[plane + 1] - 1);
            const std::vector<int> pairs = values(table.pairs);
            const auto [plane_a, plane_b] = table.auxiliary_planes;
            for (std::size_t position = 0; position < pairs.size(); position += 2) {
                ASSERT_TRUE(pairs[position] >= begin[plane_a] && pairs[position] < begin[plane_a + 1]);
                ASSERT_TRUE(pairs[position + 1] >= begin[plane_b] &&
                            pairs[position + 1] < begin[plane_b + 1]);
            }
        }
    }
}

TEST(WireCrossings, TablesOfTheThreeTargetsHaveTheSameCells) {
    const WireSchema schema = load_wires(test::data_file("protodunehd-wires-larsoft-v1.json.gz"));
    const WireAnode& anode = schema.anode(1);
    const auto views = two_faced_views(anode);
    const AnodeCells cells = find_anode_cells(anode, views);
    std::set<std::tuple<int, int, int>> expected;
    for (std::size_t cell = 0; cell < cells.size(); cell += 97) {
        expected.emplace(cells.rows[0][cell], cells.rows[1][cell], cells.rows[2][cell]);
    }
    for (int plane = 0; plane < 3; ++plane) {
        const WireCrossings table = make_wire_crossings(anode, views, cells, plane);
        const std::vector<int> targets = values(table.target_rows);
        const std::vector<int> offsets = values(table.offsets);
        const std::vector<int> pairs = values(table.pairs);
        std::size_t found = 0;
        for (std::size_t target = 0; target < targets.size(); ++target) {
            for (int position = offsets[target]; position < offsets[target + 1]; ++position) {
                int row[3];
                row[plane] = targets[target];
                row[table.auxiliary_planes[0]] = pairs[2 * position];
                row[table.auxiliary_planes[1]] = pairs[2 * position + 1];
                found += expected.count({row[0], row[1], row[2]});
            }
        }
        EXPECT_EQ(found, expected.size()) << "target plane " << plane;
    }
}

TEST(WireCrossings, NeighboursAreCyclicInWrappedPlanesOnly) {
    const WireSchema schema = load_wires(test::data_file("protodunehd-wires-larsoft-v1.json.gz"));
    const WireAnode& anode = schema.anode(0);
    const auto views = two_faced_views(anode);
    const AnodeCells no_cells;
    for (int plane = 0; plane < 2; ++plane) {
        const WireCrossings table = make_wire_crossings(anode, views, no_cells, plane);
        std::vector<int> expected;
        for (int row = 0; row < 800; ++row) {
            const int before = (row + 799) % 800;
            const int after = (row + 1) % 800;
            expected.push_back(std::min(before, after));
            expected.push_back(std::max(before, after));
        }
        EXPECT_EQ(values(table.neighbours), expected);
    }
    const WireCrossings table = make_wire_crossings(anode, views, no_cells, 2);
    const std::vector<int> offsets = values(table.neighbour_offsets);
    EXPECT_EQ(offsets[1] - offsets[0], 1);
    EXPECT_EQ(offsets[480] - offsets[479], 1) << "the last wire of face 0 does not touch the first of face 1";
    EXPECT_EQ(values(table.neighbours)[offsets[480]], 481);
}

} // namespace
