// SPDX-License-Identifier: Apache-2.0
#include "spng/io/frame_reader.h"

#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include <sys/stat.h>

namespace {

using namespace spng::test;

/// Return the samples of event_members(): sample = 100 * row + tick + ident.
at::Tensor expected_samples(int ident, int channels = 3, int ticks = 4) {
    at::Tensor samples = at::empty({channels, ticks}, at::kShort);
    auto access = samples.accessor<std::int16_t, 2>();
    for (int row = 0; row < channels; ++row) {
        for (int tick = 0; tick < ticks; ++tick) {
            access[row][tick] = static_cast<std::int16_t>(100 * row + tick + ident);
        }
    }
    return samples;
}

void expect_event(const spng::Frame& frame, const std::string& tag, int ident) {
    EXPECT_EQ(frame.ident, ident);
    ASSERT_EQ(frame.traces.size(), 1u);
    const auto& traces = frame.traces[0];
    EXPECT_EQ(traces.tag, tag);
    EXPECT_TRUE(traces.samples.equal(expected_samples(ident)));
    EXPECT_EQ(traces.channels, (std::vector<int>{7, 8, 9}));
    EXPECT_EQ(traces.start_ns, -250.0);
    EXPECT_EQ(traces.tick_ns, 500.0);
    EXPECT_EQ(traces.first_tick, 2);
    EXPECT_FALSE(traces.summary);
}

/// Return one event whose frame member is `frame`.
Members with_frame(const std::string& frame) {
    Members members = event_members("*", 0, 2, 2);
    members[0].second = frame;
    return members;
}

spng::Frame only_frame(const std::filesystem::path& path) {
    spng::FrameReader reader(path);
    auto frame = reader.next();
    EXPECT_TRUE(frame);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.events(), 1u);
    return std::move(*frame);
}

} // namespace

TEST(FrameReader, ReadsSeveralEventsFromEveryContainer) {
    const auto folder = temporary_folder("frame-reader-events");
    for (const std::string ending : all_endings) {
        const auto path = folder / ("events" + ending);
        write_archive(path,
                      joined(joined(event_members("*", 0), event_members("*", 5)), event_members("*", 6)));
        spng::FrameReader reader(path);
        for (const int ident : {0, 5, 6}) {
            const auto frame = reader.next();
            ASSERT_TRUE(frame) << ending;
            expect_event(*frame, "*", ident);
        }
        EXPECT_FALSE(reader.next());
        EXPECT_FALSE(reader.next());
        EXPECT_EQ(reader.events(), 3u);
    }
}

TEST(FrameReader, RecognisesTheContainerByContent) {
    const auto folder = temporary_folder("frame-reader-content");
    write_archive(folder / "zip.npz", event_members("*", 0));
    std::filesystem::rename(folder / "zip.npz", folder / "zip.tar.bz2");
    expect_event(only_frame(folder / "zip.tar.bz2"), "*", 0);
}

TEST(FrameReader, ReadsAStreamWithoutSeeking) {
    const auto folder = temporary_folder("frame-reader-fifo");
    for (const std::string ending : all_endings) {
        const auto file = folder / ("event" + ending);
        const auto fifo = folder / ("fifo" + ending);
        write_archive(file, event_members("*", 0));
        ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
        std::thread feeder([&] { std::ofstream(fifo, std::ios::binary) << read_file(file); });
        expect_event(only_frame(fifo), "*", 0);
        feeder.join();
    }
}

TEST(FrameReader, TagsMayBeEmptyOrHaveUnderscores) {
    const auto folder = temporary_folder("frame-reader-tags");
    for (const std::string tag : {"", "gauss_0_loose", "*", "a b"}) {
        write_archive(folder / "tags.tar", event_members(tag, 3));
        expect_event(only_frame(folder / "tags.tar"), tag, 3);
    }
}

TEST(FrameReader, ReadsMembersInAnyOrderAndSkipsOthers) {
    const auto path = temporary_folder("frame-reader-order") / "event.npz";
    const auto a = event_members("a", 1);
    const auto b = event_members("b", 1);
    write_archive(
        path, {{"readme.txt", "hello"},
               {"chanmask_bad_1.npy", npy_bytes("<i4", "(2, 3)", bytes_of<int>({7, 9, 0, 1, 4, 3}), true)},
               a[2],
               b[0],
               a[1],
               {"summary_a_1.npy", npy_bytes("<f4", "(3,)", bytes_of<float>({0.5, 1.5, 2.5}))},
               {"chanmask_none_1.npy", npy_bytes("<i8", "(0, 3)", "")},
               a[0],
               b[1],
               {"depo_data_1.npy", "anything"},
               b[2]});
    spng::FrameReader reader(path);
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_FALSE(reader.next());
    ASSERT_EQ(frame->traces.size(), 2u);
    EXPECT_EQ(frame->traces[0].tag, "a");
    EXPECT_EQ(frame->traces[1].tag, "b");
    EXPECT_TRUE(frame->traces[0].samples.equal(expected_samples(1)));
    ASSERT_TRUE(frame->traces[0].summary);
    EXPECT_TRUE(frame->traces[0].summary->equal(at::tensor({0.5, 1.5, 2.5}, at::kDouble)));
    EXPECT_FALSE(frame->traces[1].summary);
    const spng::ChannelMasks expected{{"bad", {{7, 0, 4}, {9, 1, 3}}}, {"none", {}}};
    EXPECT_EQ(frame->channel_masks, expected);
    EXPECT_EQ(reader.other_members(), (std::vector<std::string>{"readme.txt", "depo_data_1.npy"}));
}

TEST(FrameReader, ReadsOnlyAcceptedTags) {
    const auto path = temporary_folder("frame-reader-accepted") / "event.tar";
    auto bad = event_members("bad", 0);
    bad[0].second = "no array: must not be looked at";
    write_archive(path, joined(joined(bad, event_members("good", 0)), event_members("good", 1)));
    spng::FrameReader reader(path, {"other", "good"});
    expect_event(reader.next().value(), "good", 0);
    expect_event(reader.next().value(), "good", 1);
    EXPECT_FALSE(reader.next());
}

TEST(FrameReader, IgnoresFoldersInMemberNames) {
    const auto path = temporary_folder("frame-reader-folders") / "event.tar";
    Members members = event_members("*", 0);
    for (auto& [name, content] : members) {
        name = "./unpacked/" + name;
    }
    write_archive(path, members);
    expect_event(only_frame(path), "*", 0);
}

TEST(FrameReader, KeepsTheValuesOfOtherTypes) {
    const auto path = temporary_folder("frame-reader-types") / "event.npz";
    const auto samples = [&](const std::string& frame) {
        write_archive(path, with_frame(frame));
        return only_frame(path).traces[0].samples;
    };
    const auto expect = [&](const std::string& frame, const at::Tensor& expected) {
        const at::Tensor seen = samples(frame);
        EXPECT_EQ(seen.scalar_type(), expected.scalar_type());
        EXPECT_TRUE(seen.equal(expected.view({2, 2}))) << seen;
        EXPECT_TRUE(seen.is_contiguous());
    };
    expect(npy_bytes("<i2", "(2, 2)", bytes_of<std::int16_t>({1, 3, 2, -32768}), true),
           at::tensor({1, 2, 3, -32768}, at::kShort));
    expect(npy_bytes("<u2", "(2, 2)", bytes_of<std::uint16_t>({1, 2, 3, 32767})),
           at::tensor({1, 2, 3, 32767}, at::kShort));
    expect(npy_bytes("<u2", "(2, 2)", bytes_of<std::uint16_t>({1, 2, 3, 65535})),
           at::tensor({1, 2, 3, 65535}, at::kFloat));
    expect(npy_bytes("<i4", "(2, 2)", bytes_of<std::int32_t>({1, 2, 3, -16383})),
           at::tensor({1, 2, 3, -16383}, at::kShort));
    expect(npy_bytes("<i8", "(2, 2)", bytes_of<std::int64_t>({1, 2, 3, 1 << 24})),
           at::tensor({1, 2, 3, 1 << 24}, at::kFloat));
    expect(npy_bytes("|u1", "(2, 2)", std::string("\x01\x02\x03\xff")),
           at::tensor({1, 2, 3, 255}, at::kShort));
    expect(npy_bytes("|b1", "(2, 2)", std::string("\x01\x00\x01\x01", 4)),
           at::tensor({1, 0, 1, 1}, at::kShort));
    expect(npy_bytes("<f8", "(2, 2)", bytes_of<double>({0.1, 2, 3, -4}), true),
           at::tensor({0.1f, 3.f, 2.f, -4.f}));
    expect(npy_bytes(">f4", "(2, 2)", std::string("\x3f\x80\0\0\x40\0\0\0\x40\x40\0\0\xc0\x80\0\0", 16)),
           at::tensor({1.f, 2.f, 3.f, -4.f}));
}

TEST(FrameReader, KeepsNanAndInf) {
    const auto path = temporary_folder("frame-reader-nan") / "event.npz";
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    write_archive(path, with_frame(npy_bytes("<f4", "(2, 2)", bytes_of<float>({nan, inf, -inf, 1.f}))));
    const at::Tensor samples = only_frame(path).traces[0].samples;
    const auto* values = samples.const_data_ptr<float>();
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], inf);
    EXPECT_EQ(values[2], -inf);
    EXPECT_EQ(values[3], 1.f);
}

TEST(FrameReader, RecognisesAFileWithoutEvents) {
    const auto folder = temporary_folder("frame-reader-none");
    for (const std::string ending : all_endings) {
        const auto path = folder / ("none" + ending);
        write_archive(path, {{"tracks.npy", npy_bytes("<i4", "(1,)", "abcd")}});
        spng::FrameReader reader(path);
        EXPECT_FALSE(reader.next());
        EXPECT_EQ(reader.events(), 0u);
        EXPECT_EQ(reader.other_members(), std::vector<std::string>{"tracks.npy"});

        write_archive(path, {});
        spng::FrameReader empty(path);
        EXPECT_FALSE(empty.next());
        EXPECT_EQ(empty.events(), 0u);
    }
    write_archive(folder / "folders.npz", {{"only/", ""}});
    spng::FrameReader folders(folder / "folders.npz");
    EXPECT_FALSE(folders.next());
    EXPECT_LE(folders.share_read(), 1); // false for NaN
}

TEST(FrameReader, ReadsAFileOfWireCell) {
    const auto path = shared_data("pdhd/tracks10-adc.npz");
    if (!path) {
        GTEST_SKIP() << "no ../shared/data/pdhd/tracks10-adc.npz";
    }
    // The expected values are from numpy.load of the same file.
    const spng::Frame frame = only_frame(*path);
    ASSERT_EQ(frame.traces.size(), 1u);
    const auto& traces = frame.traces[0];
    EXPECT_EQ(traces.tag, "*");
    EXPECT_EQ(traces.samples.sizes(), (std::vector<std::int64_t>{2560, 6000}));
    EXPECT_EQ(traces.samples.scalar_type(), at::kShort);
    EXPECT_EQ(traces.samples.sum().item<std::int64_t>(), 111020100229);
    EXPECT_EQ(traces.samples[1234][4321].item<int>(), 9395);
    EXPECT_EQ(traces.samples[2559][0].item<int>(), 3602);
    EXPECT_EQ(traces.channels.size(), 2560u);
    EXPECT_EQ(traces.channels.front(), 0);
    EXPECT_EQ(traces.channels.back(), 2559);
    EXPECT_NEAR(traces.start_ns, -312280.84926166, 1e-6);
    EXPECT_EQ(traces.tick_ns, 500.0);
    EXPECT_EQ(traces.first_tick, 0);
}
