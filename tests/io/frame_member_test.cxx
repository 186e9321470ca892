// SPDX-License-Identifier: Apache-2.0
#include "spng/io/frame_member.h"

#include <gtest/gtest.h>

#include <stdexcept>

using spng::MemberKind;

TEST(FrameMember, NamesRoundTrip) {
    const struct {
        const char* name;
        MemberKind kind;
        const char* label;
        int ident;
    } cases[] = {
        {"frame_*_0.npy", MemberKind::frame, "*", 0},
        {"frame__0.npy", MemberKind::frame, "", 0},
        {"channels_gauss0_12.npy", MemberKind::channels, "gauss0", 12},
        {"tickinfo_a_b__c_3.npy", MemberKind::tickinfo, "a_b__c", 3},
        {"summary_frame_1_2147483647.npy", MemberKind::summary, "frame_1", 2147483647},
        {"chanmask_bad_-4.npy", MemberKind::chanmask, "bad", -4},
    };
    for (const auto& one : cases) {
        const auto member = spng::parse_member_name(one.name);
        ASSERT_TRUE(member) << one.name;
        EXPECT_EQ(member->kind, one.kind) << one.name;
        EXPECT_EQ(member->label, one.label) << one.name;
        EXPECT_EQ(member->ident, one.ident) << one.name;
        EXPECT_EQ(spng::member_name({one.kind, one.label, one.ident}), one.name);
    }
}

TEST(FrameMember, OtherNamesAreIgnored) {
    for (const char* name :
         {"", "frame", "frames_a_0.npy", "depo_data_0.npy", "._frame_*_0.npy", "metadata.json"}) {
        EXPECT_FALSE(spng::parse_member_name(name)) << name;
    }
}

TEST(FrameMember, MalformedNamesAreRejected) {
    for (const char* name : {"frame_*_0.json", "frame_*_0", "frame_0.npy", "frame_a_x.npy", "frame_a_.npy",
                             "frame_a_99999999999.npy", "channels_a_1x.npy", "tickinfo_.npy"}) {
        EXPECT_THROW(spng::parse_member_name(name), std::invalid_argument) << name;
    }
}
