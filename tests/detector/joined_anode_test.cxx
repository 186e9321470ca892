// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/joined_anode.h"

#include "spng/core/error.h"
#include "spng/detector/anode.h"
#include "spng/detector/cells.h"
#include "tests/detector/detector_files.h"
#include "tests/detector/toy_face.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace spng;

/// Return anodes 7 and 8. Both have wires U along y at z = 0 .. 3 from y = 0 to 4, which channels 100 .. 103 read, and wires V
/// along z at y = 0.5 .. 3.5. W along y are from y = 0 to 2 on anode 7 and from 2 to 4 on anode 8.
WireSchema two_halves() {
    WireSchema schema{.path = "toy", .anodes = {}};
    for (const int half : {0, 1}) {
        WireFace face{.ident = 0, .planes = {}};
        face.planes.push_back(test::toy_plane(0, {1, 0}, 1.0, 4, 0, 4, 100));
        WirePlane v = test::toy_plane(1, {0, -1}, 1.0, 4, -3.5, 0.5, 200);
        v.first = 0.5;
        for (Wire& wire : v.wires) {
            wire.tail.y += 0.5;
            wire.head.y += 0.5;
        }
        face.planes.push_back(v);
        face.planes.push_back(test::toy_plane(2, {1, 0}, 1.0, 4, 2 * half, 2 * half + 2, 300 + 10 * half));
        schema.anodes.push_back({.ident = 7 + half, .faces = {face}});
    }
    return schema;
}

TEST(JoinedAnode, WiresEndAtTheAreaOfTheirFace) {
    const WireAnode anode = joined_anode(two_halves(), 3, {7, 8});
    EXPECT_EQ(anode.ident, 3);
    ASSERT_EQ(anode.faces.size(), 2U);
    for (const int half : {0, 1}) {
        const WireFace& face = anode.face(half);
        ASSERT_EQ(face.plane(0).size(), 4);
        for (const Wire& wire : face.plane(0).wires) {
            EXPECT_DOUBLE_EQ(std::min(wire.tail.y, wire.head.y), 2 * half);
            EXPECT_DOUBLE_EQ(std::max(wire.tail.y, wire.head.y), 2 * half + 2);
            EXPECT_EQ(wire.segment, half) << "the piece on the second face continues that on the first";
        }
        const WirePlane& v = face.plane(1);
        ASSERT_EQ(v.size(), 2) << "wires of the other half are left out";
        EXPECT_EQ(v.wires[0].channel, 200 + 2 * half);
        EXPECT_DOUBLE_EQ(v.first, 0.5 + 2 * half);
        EXPECT_DOUBLE_EQ(v.wire_coordinate({2.0 * half + 1.5, 1.0}), 1);
        EXPECT_EQ(v.wires[0].segment, 0) << "its only piece";
    }
    EXPECT_EQ(anode_channels(anode).size(), 4U + 4U + 8U);
    EXPECT_EQ(make_view(anode, {.plane = 1, .faces = {0, 1}, .order = {1, 1}}).channels,
              (std::vector<int>{200, 201, 202, 203}));
    EXPECT_EQ(make_view(anode, {.plane = 0, .faces = {0, 1}, .order = {1, 1}}).channels,
              (std::vector<int>{100, 101, 102, 103}));
}

TEST(JoinedAnode, RejectsPartsThatDoNotFit) {
    const auto seen = [](const WireSchema& schema, const std::vector<int>& parts) {
        try {
            joined_anode(schema, 0, parts);
        } catch (const Error& error) {
            return error.text().seen;
        }
        return std::string("no error");
    };
    EXPECT_EQ(seen(two_halves(), {7, 9}), "anode 9");
    EXPECT_EQ(seen(two_halves(), {7, 7}), "listed twice");
    WireSchema schema = two_halves();
    schema.anodes[1].faces.push_back(schema.anodes[1].faces[0]);
    EXPECT_EQ(seen(schema, {7, 8}), "2 faces");
    schema = two_halves();
    for (Wire& wire : schema.anodes[0].faces[0].planes[2].wires) {
        wire.tail.y += 100;
        wire.head.y += 100;
    }
    EXPECT_EQ(seen(schema, {7, 8}), "0 wires of plane 0 in the area of all planes");
}

TEST(JoinedAnode, IcarusHalvesShareTheirWiresOfVAndW) {
    SPNG_SHARED_FILE_OR_SKIP(path, "icarus-wires-dualanode-v5.json.bz2");
    const WireSchema schema = load_wires(path);
    for (const int index : {0, 3}) {
        const WireAnode anode = joined_anode(schema, index, {110 + index, 120 + index});
        EXPECT_EQ(anode_channels(anode).size(), 2 * 1056U + 2 * 5600U);
        for (const int plane : {1, 2}) {
            const ChannelView view = make_view(anode, {.plane = plane, .faces = {0, 1}, .order = {1, 1}});
            EXPECT_EQ(view.channels.size(), 5600U);
            EXPECT_TRUE(std::is_sorted(view.channels.begin(), view.channels.end()) ||
                        std::is_sorted(view.channels.rbegin(), view.channels.rend()));
        }
        for (const WireFace& face : anode.faces) {
            const WirePlane &u = face.plane(0), &v = face.plane(1);
            EXPECT_EQ(u.size(), 1056);
            EXPECT_LT(v.size(), 5600);
            const double sine = std::abs(dot(u.direction, v.pitch_direction));
            const double expected = 3168.0 * 8949.5 * sine / (u.pitch * v.pitch);
            EXPECT_NEAR(find_cells(face).size() / expected, 1.0, 0.02);
        }
    }
}

} // namespace
