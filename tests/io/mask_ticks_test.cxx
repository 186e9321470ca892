// SPDX-License-Identifier: Apache-2.0
// The zero of the ticks of masks: the start of the frame, in files of earlier versions the first sample.
#include "spng/io/mask_ticks.h"

#include "spng/core/error.h"
#include "spng/io/frame_parts.h"
#include "spng/io/frame_reader.h"
#include "spng/io/frame_writer.h"
#include "spng/nodes/frame/frame_file_sink.h"
#include "spng/nodes/frame/frame_file_source.h"
#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <tuple>

namespace {

using namespace spng::test;

constexpr int file_first_tick = 2; // of event_members()

/// Return an event whose mask `bad` is {7, 3, 5}, with these notes unless they are empty.
spng::Frame read_with(const std::string& notes) {
    const auto path = temporary_folder("mask-ticks") / "event.npz";
    Members members = event_members("*", 0);
    members.emplace_back("chanmask_bad_0.npy", npy_bytes("<i4", "(1, 3)", bytes_of<int>({7, 3, 5})));
    if (!notes.empty()) {
        members.emplace_back("notes_spng_0.npy",
                             npy_bytes("|u1", "(" + std::to_string(notes.size()) + ",)", notes));
    }
    write_archive(path, members);
    return spng::FrameReader(path).next().value();
}

spng::ChannelMasks bad(std::int64_t begin, std::int64_t end) {
    return {{"bad", {{7, begin, end}}}};
}

spng::Frame frame_with(spng::Notes notes, int first_tick) {
    spng::Frame frame;
    frame.traces.push_back({.tag = "signal",
                            .samples = at::zeros({1, 4}, at::kFloat),
                            .channels = {7},
                            .start_ns = 250,
                            .tick_ns = 500,
                            .first_tick = first_tick,
                            .summary = {}});
    frame.channel_masks = bad(first_tick + 1, first_tick + 3);
    frame.notes = std::move(notes);
    return frame;
}

/// Write the frame. Return what the file has, and whether it has the mark.
std::pair<spng::Frame, bool> written(const spng::Frame& frame) {
    const auto path = temporary_folder("mask-ticks") / "frame.tar";
    spng::FrameWriter writer(path);
    writer.write(frame);
    writer.close();
    std::ifstream file(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    return {spng::FrameReader(path).next().value(), content.find(spng::mask_ticks_note) != std::string::npos};
}

TEST(MaskTicks, OfAFileWithoutNotesCountFromTheStart) {
    EXPECT_EQ(read_with("").channel_masks, bad(3, 5));
}

TEST(MaskTicks, OfAFileOfAnEarlierVersionCountFromTheFirstSample) {
    const spng::Frame frame = read_with(R"({"model": "none"})");
    EXPECT_EQ(frame.channel_masks, bad(3 + file_first_tick, 5 + file_first_tick));
    EXPECT_EQ(frame.notes, (spng::Notes{{"model", "none"}}));
}

TEST(MaskTicks, TheMarkOfAFileIsNoNoteOfTheFrame) {
    const spng::Frame frame = read_with(R"({"mask_ticks": "from the start", "model": "none"})");
    EXPECT_EQ(frame.channel_masks, bad(3, 5));
    EXPECT_EQ(frame.notes, (spng::Notes{{"model", "none"}}));
}

TEST(MaskTicks, AreMarkedWhereAFileNeedsIt) {
    for (const auto& [notes, first_tick, is_marked] : {std::tuple{spng::Notes{{"model", "none"}}, 1000, true},
                                                       {{{"model", "none"}}, -3, true},
                                                       {{{"model", "none"}}, 0, false},
                                                       {{}, 1000, false}}) {
        const spng::Frame frame = frame_with(notes, first_tick);
        const auto [seen, has_mark] = written(frame);
        EXPECT_EQ(has_mark, is_marked) << first_tick;
        EXPECT_EQ(seen.channel_masks, frame.channel_masks) << first_tick;
        EXPECT_EQ(seen.notes, notes);
    }
    spng::Frame without = frame_with({{"model", "none"}}, 1000);
    without.channel_masks = {{"bad", {}}};
    EXPECT_FALSE(written(without).second);
}

TEST(MaskTicks, BeyondThirtyTwoBitsAreRejected) {
    const auto path = temporary_folder("mask-ticks") / "event.npz";
    Members members = event_members("*", 0);
    members.emplace_back("chanmask_bad_0.npy",
                         npy_bytes("<i8", "(1, 3)", bytes_of<std::int64_t>({7, 0, std::int64_t{1} << 31})));
    write_archive(path, members);
    spng::FrameReader reader(path);
    EXPECT_THROW(reader.next(), spng::Error);
}

TEST(MaskTicks, CountFromTheFirstSampleInTheChain) {
    for (const int first_tick : {0, 1000, -3}) {
        const spng::Frame frame = frame_with({}, first_tick);
        const auto set = spng::set_from(frame, 0);
        EXPECT_EQ(set->event().masks, bad(1, 3));
        EXPECT_EQ(spng::frame_from(*set, true).channel_masks, frame.channel_masks);
    }
}

TEST(MaskTicks, FollowTheStartOfTheOutput) {
    // Times so late that the first sample is no whole number of ticks after the start: the output begins with it.
    spng::Frame frame = frame_with({}, 1001);
    frame.traces[0].start_ns = 1.7e18;
    const spng::Frame seen = spng::frame_from(*spng::set_from(frame, 0), true);
    EXPECT_EQ(seen.traces[0].first_tick, 0);
    EXPECT_EQ(seen.channel_masks, bad(1, 3));
}

} // namespace
