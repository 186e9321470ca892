// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/anode.h"

#include "spng/core/error.h"
#include "spng/detector/cells.h"
#include "tests/detector/detector_files.h"
#include "tests/detector/toy_face.h"

#include <gtest/gtest.h>

#include <numeric>

namespace {

using namespace spng;

std::vector<int> sequence(int first, int last) {
    std::vector<int> result;
    const int step = first <= last ? 1 : -1;
    for (int value = first; value != last + step; value += step) {
        result.push_back(value);
    }
    return result;
}

std::vector<int> joined(std::vector<int> first, const std::vector<int>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

std::vector<int> shifted(std::vector<int> channels, int offset) {
    for (int& channel : channels) {
        channel += offset;
    }
    return channels;
}

/// Check the channel order of ProtoDUNE-HD and -SP anodes (docs/physics-notes.md#conventions): anode k adds
/// 2560 k.
void expect_two_faced_anode(const WireAnode& anode) {
    const int offset = 2560 * anode.ident;
    SCOPED_TRACE("anode " + std::to_string(anode.ident));
    EXPECT_EQ(anode_channels(anode), sequence(offset, offset + 2559));
    const ChannelView view_u = make_view(anode, {.plane = 0, .faces = {1, 0}, .order = {-1, 1}});
    EXPECT_EQ(view_u.channels, shifted(sequence(0, 799), offset));
    EXPECT_TRUE(view_u.wrapped);
    const ChannelView view_v = make_view(anode, {.plane = 1, .faces = {1, 0}, .order = {-1, 1}});
    EXPECT_EQ(view_v.channels, shifted(joined(sequence(1199, 800), sequence(1599, 1200)), offset));
    EXPECT_TRUE(view_v.wrapped);
    const ChannelView face_0 = make_view(anode, {.plane = 2, .faces = {0}, .order = {1}});
    EXPECT_EQ(face_0.channels, shifted(sequence(2080, 2559), offset));
    EXPECT_FALSE(face_0.wrapped);
    const ChannelView face_1 = make_view(anode, {.plane = 2, .faces = {1}, .order = {1}});
    EXPECT_EQ(face_1.channels, shifted(sequence(1600, 2079), offset));
    EXPECT_FALSE(face_1.wrapped);
}

TEST(Anode, ProtoduneHdChannelOrder) {
    const WireSchema schema = load_wires(test::data_file("protodunehd-wires-larsoft-v1.json.gz"));
    for (const WireAnode& anode : schema.anodes) {
        expect_two_faced_anode(anode);
    }
}

TEST(Anode, ProtoduneSpChannelOrder) {
    SPNG_SHARED_FILE_OR_SKIP(path, "protodune-wires-larsoft-v4.json.bz2");
    for (const WireAnode& anode : load_wires(path).anodes) {
        expect_two_faced_anode(anode);
    }
}

/// Check the channels that data of ProtoDUNE-VD have: two anodes have 3072, 476 U and 476 V of the first before those of the second.
TEST(Anode, ProtoduneVdStripsCrossTwoFaces) {
    SPNG_SHARED_FILE_OR_SKIP(path, "protodunevd-wires-larsoft-v5.json.bz2");
    const WireSchema schema = load_wires(path);
    ASSERT_EQ(schema.anodes.size(), 8U);
    for (const WireAnode& anode : schema.anodes) {
        SCOPED_TRACE("anode " + std::to_string(anode.ident));
        const int pair = 3072 * (anode.ident / 2), second = anode.ident % 2;
        const int u = pair + 476 * second, v = pair + 952 + 476 * second, w = pair + 1904 + 584 * second;
        EXPECT_EQ(anode_channels(anode),
                  joined(joined(sequence(u, u + 475), sequence(v, v + 475)), sequence(w, w + 583)));
        const bool is_top = anode.ident > 3;
        const ViewConfig rising{.plane = is_top ? 1 : 0, .faces = {0, 1}, .order = {1, 1}};
        const ViewConfig falling{.plane = is_top ? 0 : 1, .faces = {1, 0}, .order = {1, 1}};
        const int first = is_top ? v : u, other = is_top ? u : v;
        EXPECT_EQ(make_view(anode, rising).channels, sequence(first + 475, first));
        EXPECT_EQ(make_view(anode, falling).channels, sequence(other, other + 475));
        EXPECT_TRUE(make_view(anode, rising).wrapped);
        EXPECT_EQ(make_view(anode, {.plane = 2, .faces = {0}, .order = {1}}).channels,
                  sequence(w + 292, w + 583));
        EXPECT_EQ(make_view(anode, {.plane = 2, .faces = {1}, .order = {1}}).channels, sequence(w, w + 291));
    }
}

/// Two faces beside each other along y: wires of U, channels 100 to 102, cross both, and each face has its own V and W.
TEST(Anode, AStripAcrossTwoFacesIsOneRow) {
    WireAnode anode{.ident = 0, .faces = {test::toy_face(3, 2), test::toy_face(3, 2)}};
    WireFace& upper = anode.faces[1];
    upper.ident = 1;
    for (WirePlane& plane : upper.planes) {
        for (Wire& wire : plane.wires) {
            wire.tail.y += 2;
            wire.head.y += 2;
            wire.segment = plane.ident == 0 ? 1 : 0;
            wire.channel += plane.ident == 0 ? 0 : 10;
        }
        plane.first += 2 * plane.pitch_direction.y;
    }
    upper.planes[0].wires.back().channel = 103; // is on this face only
    upper.planes[0].wires.back().segment = 0;
    const ChannelView view = make_view(anode, {.plane = 0, .faces = {0, 1}, .order = {1, 1}});
    EXPECT_EQ(view.channels, (std::vector<int>{100, 101, 102, 103}));
    EXPECT_TRUE(view.wrapped);
    for (const WireFace& face : anode.faces) {
        EXPECT_EQ(find_cells(face).wires, find_cells(anode.faces[0]).wires) << "face " << face.ident;
    }
}

TEST(Anode, MicrobooneHasOneUnwrappedFace) {
    SPNG_SHARED_FILE_OR_SKIP(path, "microboone-celltree-wires-v2.1.json.bz2");
    const WireSchema schema = load_wires(path);
    const WireAnode& anode = schema.anode(0);
    EXPECT_EQ(anode_channels(anode), sequence(0, 8255));
    const int begin[] = {0, 2400, 4800, 8256};
    for (int plane = 0; plane < 3; ++plane) {
        const ChannelView view = make_view(anode, {.plane = plane, .faces = {0}, .order = {1}});
        EXPECT_EQ(view.channels, sequence(begin[plane], begin[plane + 1] - 1));
        EXPECT_FALSE(view.wrapped);
    }
}

TEST(Anode, OnlyFirstSegmentsMakeRows) {
    WireAnode anode{.ident = 0, .faces = {test::toy_face(3, 2)}};
    std::vector<Wire>& wires = anode.faces[0].planes[0].wires;
    wires[2].channel = 100; // the wire of channel 100 continues as the third wire
    wires[2].segment = 1;
    EXPECT_EQ(attached_channels(anode.faces[0], 0), (std::vector<int>{100, 101}));
    EXPECT_EQ(anode_channels(anode), (std::vector<int>{100, 101, 200, 201, 300, 301, 302, 303}));
    EXPECT_EQ(make_view(anode, {.plane = 0, .faces = {0}, .order = {-1}}).channels,
              (std::vector<int>{101, 100}));
}

TEST(Anode, WrongViewsAreRejected) {
    const WireAnode anode{.ident = 0, .faces = {test::toy_face(3, 2)}};
    const ViewConfig wrong[] = {
        {.plane = 0, .faces = {}, .order = {}},   {.plane = 0, .faces = {0}, .order = {1, 1}},
        {.plane = 0, .faces = {0}, .order = {2}}, {.plane = 0, .faces = {5}, .order = {1}},
        {.plane = 3, .faces = {0}, .order = {1}}, {.plane = 0, .faces = {0, 0}, .order = {1, -1}},
    };
    for (const ViewConfig& config : wrong) {
        try {
            make_view(anode, config);
            ADD_FAILURE() << "accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.exit_status(), 2);
        }
    }
}

} // namespace
