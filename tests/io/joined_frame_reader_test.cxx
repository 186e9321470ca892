// SPDX-License-Identifier: Apache-2.0
#include "spng/io/joined_frame_reader.h"

#include "spng/core/error.h"
#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace {

using namespace spng;
using namespace spng::test;

constexpr int channels_in_file = 3;

/// One file's part of an event; sample = 100 * row + tick + ident.
struct Part {
    int first_channel = 0;
    int ident = 0;
    int ticks = 4;
    std::string tag = "*";
    double start = -250.0;
};

Members members_of(const Part& part) {
    Members members = event_members(part.tag, part.ident, channels_in_file, part.ticks);
    std::vector<std::int32_t> numbers;
    for (int row = 0; row < channels_in_file; ++row) {
        numbers.push_back(part.first_channel + row);
    }
    members[1].second = npy_bytes("<i4", "(3,)", bytes_of(numbers));
    members[2].second = npy_bytes("<f8", "(3,)", bytes_of<double>({part.start, 500.0, 2.0}));
    return members;
}

class JoinedFrames : public ::testing::Test {
protected:
    /// Write a file with these events.
    std::filesystem::path file(const std::string& name, const std::vector<Part>& events) {
        Members members;
        for (const auto& event : events) {
            members = joined(members, members_of(event));
        }
        return file_of(name, members);
    }
    std::filesystem::path file_of(const std::string& name, const Members& members) {
        write_archive(m_folder / name, members);
        return m_folder / name;
    }

    /// Return the text of the error from reading the next event.
    static std::string rejection(JoinedFrameReader& reader) {
        try {
            reader.next();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::Input);
            return error.what();
        }
        ADD_FAILURE() << "nothing was thrown";
        return {};
    }
    static void expect_in(const std::string& text, const std::vector<std::string>& words) {
        for (const auto& word : words) {
            EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is not in: " << text;
        }
    }

    const std::filesystem::path m_folder = spng::test::temporary_folder("joined-frames");
};

TEST_F(JoinedFrames, RowsAreInTheOrderOfTheFiles) {
    JoinedFrameReader reader(
        {file("a.tar", {{.first_channel = 10, .ident = 3}, {.first_channel = 10, .ident = 5}}),
         file("b.npz", {{.first_channel = 0, .ident = 3}, {.first_channel = 0, .ident = 5}})},
        {"*"});
    EXPECT_FALSE(reader.at_end());
    for (const int ident : {3, 5}) {
        const auto frame = reader.next();
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->ident, ident);
        ASSERT_EQ(frame->traces.size(), 1U);
        const auto& traces = frame->traces[0];
        EXPECT_EQ(traces.channels, (std::vector<int>{10, 11, 12, 0, 1, 2}));
        ASSERT_EQ(traces.samples.sizes(), (std::vector<std::int64_t>{6, 4}));
        EXPECT_EQ(traces.samples[4][2].item<int>(), 100 + 2 + ident);
        EXPECT_EQ(traces.samples.scalar_type(), at::kShort);
        EXPECT_EQ(traces.start_ns, -250.0);
        EXPECT_EQ(traces.first_tick, 2);
    }
    EXPECT_TRUE(reader.at_end());
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.events(), 2U);
}

TEST_F(JoinedFrames, OnlyTheJoinedSamplesAreInMemoryOfTheAllocator) {
    std::vector<at::Tensor> allocated;
    const auto allocate = [&](at::IntArrayRef sizes, at::ScalarType type) {
        return allocated.emplace_back(at::empty(sizes, type));
    };
    JoinedFrameReader reader({file("a.tar", {{.first_channel = 10}}), file("b.tar", {{.first_channel = 0}})},
                             {"*"}, allocate);
    const auto frame = reader.next();
    ASSERT_TRUE(frame && allocated.size() == 1);
    EXPECT_TRUE(frame->traces[0].samples.is_same(allocated.front()));
}

TEST_F(JoinedFrames, ChannelMasksAreJoined) {
    Members first = members_of({.first_channel = 0}), second = members_of({.first_channel = 10});
    first.push_back({"chanmask_bad_0.npy", npy_bytes("<i4", "(1, 3)", bytes_of<std::int32_t>({1, 0, 2}))});
    second.push_back({"chanmask_bad_0.npy", npy_bytes("<i4", "(1, 3)", bytes_of<std::int32_t>({11, 1, 4}))});
    second.push_back({"chanmask_hot_0.npy", npy_bytes("<i4", "(1, 3)", bytes_of<std::int32_t>({12, 0, 4}))});
    JoinedFrameReader reader({file_of("a.tar", first), file_of("b.tar", second)}, {"*"});
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->channel_masks, (ChannelMasks{{"bad", {{1, 0, 2}, {11, 1, 4}}}, {"hot", {{12, 0, 4}}}}));
}

TEST_F(JoinedFrames, OnlyTagOfAFileMayHaveAnyName) {
    JoinedFrameReader reader({file("a.tar", {{.first_channel = 0, .tag = "raw0"}}),
                              file("b.tar", {{.first_channel = 10, .tag = "raw1"}})},
                             {"*"});
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->traces.size(), 1U);
    EXPECT_EQ(frame->traces[0].tag, "raw0");
}

TEST_F(JoinedFrames, SeveralTagsMustAgree) {
    const Members two_tags = joined(members_of({.first_channel = 0, .tag = "raw"}),
                                    members_of({.first_channel = 0, .tag = "clean"}));
    JoinedFrameReader reader(
        {file_of("a.tar", two_tags), file("b.tar", {{.first_channel = 10, .tag = "raw"}})}, {"*"});
    expect_in(rejection(reader), {"differ in their tags", "'raw', 'clean'", "b.tar"});
}

TEST_F(JoinedFrames, ChannelInTwoFilesIsRejected) {
    JoinedFrameReader reader({file("a.tar", {{.first_channel = 0}}), file("b.tar", {{.first_channel = 2}})},
                             {"*"});
    expect_in(rejection(reader), {"a channel is in two files", "channel 2", "a.tar", "b.tar", "event 0"});
}

TEST_F(JoinedFrames, DifferentTicksAreRejected) {
    const auto first = file("a.tar", {{.first_channel = 0}});
    JoinedFrameReader fewer({first, file("b.tar", {{.first_channel = 10, .ticks = 3}})}, {"*"});
    expect_in(rejection(fewer), {"differ in their ticks", "4 ticks", "3 ticks", "b.tar"});
    JoinedFrameReader later({first, file("c.tar", {{.first_channel = 10, .start = 0}})}, {"*"});
    expect_in(rejection(later), {"differ in their ticks", "-250", "c.tar"});
}

TEST_F(JoinedFrames, DifferentEventsAreRejected) {
    JoinedFrameReader reader({file("a.tar", {{.first_channel = 0, .ident = 1}}),
                              file("b.tar", {{.first_channel = 10, .ident = 2}})},
                             {"*"});
    expect_in(rejection(reader), {"different events", "event 2", "event 1", "b.tar"});
    EXPECT_FALSE(reader.next());
}

TEST_F(JoinedFrames, FileThatEndsEarlyIsRejected) {
    JoinedFrameReader reader({file("a.tar", {{.first_channel = 0, .ident = 1}}),
                              file("b.tar", {{.first_channel = 10, .ident = 1}, {10, 2}})},
                             {"*"});
    EXPECT_TRUE(reader.next());
    EXPECT_FALSE(reader.at_end());
    expect_in(rejection(reader), {"fewer events", "1 events", "a.tar", "b.tar"});
    EXPECT_FALSE(reader.next());
}

TEST_F(JoinedFrames, DamagedEventDoesNotShiftOthers) {
    Members damaged = members_of({.first_channel = 0, .ident = 1});
    damaged[1].second = npy_bytes("<i4", "(2,)", bytes_of<std::int32_t>({0, 1}));
    JoinedFrameReader reader({file_of("a.tar", joined(damaged, members_of({.first_channel = 0, .ident = 2}))),
                              file("b.tar", {{.first_channel = 10, .ident = 1}, {10, 2}})},
                             {"*"});
    expect_in(rejection(reader), {"the arrays of the event do not match", "a.tar", "event 1"});
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->ident, 2);
    EXPECT_EQ(frame->traces[0].channels, (std::vector<int>{0, 1, 2, 10, 11, 12}));
}

} // namespace
