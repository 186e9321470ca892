// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/readout_stream.h"

#include "spng/io/mask_ticks.h"
#include "spng/nodes/channels/channel_ranges.h"
#include "tests/support/components.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include <limits>

namespace spng {
namespace {

using test::error_of;

constexpr WindowGrid grid{.core = 12, .before = 4, .after = 8, .align = 4};
constexpr double tick_ns = 500;
constexpr int first_tick = 3; // from which the ticks of masks count

/// Return ticks [begin, end) of a readout of two channels with the samples tick and 1000 + tick.
Frame frame_of(int ident, std::int64_t begin, std::int64_t end, double start_ns = 0) {
    const at::Tensor row = at::arange(begin, end, at::kShort).unsqueeze(0);
    Frame frame;
    frame.ident = ident;
    frame.traces = {{"*",
                     at::cat({row, row + 1000}),
                     {7, 9},
                     start_ns + begin * tick_ns,
                     tick_ns,
                     first_tick,
                     std::nullopt}};
    return frame;
}

std::vector<ReadoutEvent> events_of(ReadoutStream& stream, std::vector<Frame> frames) {
    std::vector<ReadoutEvent> events;
    const auto take = [&] {
        while (auto event = stream.pop()) {
            events.push_back(std::move(*event));
        }
    };
    for (auto& frame : frames) {
        stream.push(std::move(frame));
        take();
    }
    stream.end();
    take();
    EXPECT_TRUE(stream.empty());
    return events;
}

std::vector<ReadoutEvent> events_of(std::vector<Frame> frames, bool series = true) {
    ReadoutStream stream("test", grid, series);
    return events_of(stream, std::move(frames));
}

/// Return a readout of 50 ticks in frames that end at `ends`.
std::vector<Frame> split(std::vector<std::int64_t> ends) {
    std::vector<Frame> frames;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
        frames.push_back(frame_of(4 + static_cast<int>(frames.size()), begin, end));
        frames.back().channel_masks = shifted(masks_within({{"bad", {{9, 18, 40}}}}, begin, end), first_tick);
        begin = end;
    }
    return frames;
}

TEST(ReadoutStream, ShortReadoutsPassUnchanged) {
    Frame frame = frame_of(5, 0, 24);
    frame.channel_masks = {{"bad", {{7, 0, 99}, {7, 3, 5}}}, {"none", {}}};
    frame.traces[0].summary = at::arange(2, at::kDouble);
    const Frame given = frame;
    for (const bool series : {false, true}) {
        const auto events = events_of({given, frame_of(6, 0, 3, 1e9)}, series);
        ASSERT_EQ(events.size(), 2u);
        EXPECT_FALSE(events[0].window);
        EXPECT_EQ(events[0].frame.ident, 5);
        EXPECT_TRUE(events[0].frame.traces[0].samples.equal(given.traces[0].samples));
        EXPECT_TRUE(events[0].frame.traces[0].summary->equal(*given.traces[0].summary));
        EXPECT_EQ(events[0].frame.channel_masks, given.channel_masks);
        EXPECT_EQ(events[1].frame.ident, 6);
    }
}

TEST(ReadoutStream, WindowsOfALongFrame) {
    const auto events = events_of(split({50}), false);
    ASSERT_EQ(events.size(), 4u);
    const std::int64_t begins[] = {0, 12, 24, 28}, ends[] = {24, 36, 48, 50};
    const ReadoutWindow windows[] = {{0, 0, 0, 16}, {0, 1, 4, 16}, {0, 2, 4, 16}, {0, 3, 12, 22}};
    for (std::size_t i = 0; i < 4; ++i) {
        const TaggedTraces& traces = events[i].frame.traces[0];
        EXPECT_EQ(events[i].frame.ident, 4 + static_cast<int>(i));
        EXPECT_EQ(*events[i].window, windows[i]);
        EXPECT_TRUE(traces.samples.equal(frame_of(0, begins[i], ends[i]).traces[0].samples));
        EXPECT_EQ(traces.start_ns, begins[i] * tick_ns);
        EXPECT_EQ(traces.first_tick, first_tick);
        EXPECT_EQ(traces.channels, (std::vector<int>{7, 9}));
    }
    EXPECT_EQ(events[0].frame.channel_masks, (ChannelMasks{{"bad", {{9, 21, 27}}}}));
    EXPECT_EQ(events[3].frame.channel_masks, (ChannelMasks{{"bad", {{9, 3, 15}}}}));
}

TEST(ReadoutStream, ResultDoesNotDependOnTheFramesOfAReadout) {
    const auto expected = events_of(split({50}));
    for (const auto& ends : std::vector<std::vector<std::int64_t>>{
             {25, 50}, {1, 2, 49, 50}, {24, 25, 48, 50}, {10, 20, 30, 40, 50}, {7, 50}}) {
        const auto events = events_of(split(ends));
        ASSERT_EQ(events.size(), expected.size());
        for (std::size_t i = 0; i < events.size(); ++i) {
            const Frame &seen = events[i].frame, &wanted = expected[i].frame;
            EXPECT_EQ(events[i].window, expected[i].window);
            EXPECT_EQ(seen.ident, wanted.ident);
            EXPECT_EQ(seen.traces[0].start_ns, wanted.traces[0].start_ns);
            EXPECT_TRUE(seen.traces[0].samples.equal(wanted.traces[0].samples));
            EXPECT_EQ(seen.channel_masks, wanted.channel_masks);
        }
    }
}

TEST(ReadoutStream, FramesOfASeriesMayHaveOneStart) {
    const auto expected = events_of(split({50}));
    auto frames = split({25, 50});
    frames[1].traces[0].start_ns = frames[0].traces[0].start_ns;
    frames[1].traces[0].first_tick += 25;
    frames[1].channel_masks = shifted(frames[1].channel_masks, 25);
    const auto events = events_of(std::move(frames));
    ASSERT_EQ(events.size(), expected.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        EXPECT_TRUE(events[i].frame.traces[0].samples.equal(expected[i].frame.traces[0].samples));
        EXPECT_EQ(events[i].frame.channel_masks, expected[i].frame.channel_masks);
    }
}

TEST(ReadoutStream, DropsTicksThatNoWindowNeeds) {
    ReadoutStream stream("test", grid, true);
    std::vector<at::Tensor> given;
    for (int i = 0; i < 40; ++i) {
        Frame frame = frame_of(i, i * 10, i * 10 + 10);
        frame.channel_masks = {{"bad", {{7, 0, 10}}}};
        given.push_back(frame.traces[0].samples);
        stream.push(std::move(frame));
        while (stream.pop()) {
        }
        int held = 0;
        for (const auto& samples : given) {
            held += samples.use_count() > 1;
        }
        EXPECT_LE(held, 5) << i; // a readout window of 24 ticks, 12 ticks to the next one, and one frame
    }
}

TEST(ReadoutStream, AGapOrOtherChannelsBeginANewReadout) {
    Frame other = frame_of(2, 30, 40);
    other.traces[0].channels = {7, 8};
    Frame real = frame_of(3, 40, 50);
    real.traces[0].samples = real.traces[0].samples.to(at::kFloat);
    const auto events =
        events_of({frame_of(0, 0, 10), frame_of(1, 10, 30), other, real, frame_of(4, 52, 60)});
    ASSERT_EQ(events.size(), 5u);
    EXPECT_EQ(*events[0].window, (ReadoutWindow{0, 0, 0, 16}));
    EXPECT_EQ(*events[1].window, (ReadoutWindow{0, 1, 8, 22}));
    for (std::size_t i = 2; i < 5; ++i) {
        EXPECT_FALSE(events[i].window);
        EXPECT_EQ(events[i].frame.ident, static_cast<int>(i));
    }
    EXPECT_EQ(events[2].frame.traces[0].samples.size(1), 10);
    EXPECT_EQ(events[4].frame.traces[0].start_ns, 52 * tick_ns);
}

TEST(ReadoutStream, HalfATickIsARounding) {
    const auto begin = [](double later) {
        return std::vector{frame_of(0, 0, 10), frame_of(1, 10, 20, later)};
    };
    EXPECT_EQ(events_of(begin(0.4 * tick_ns)).size(), 1u);
    EXPECT_EQ(events_of(begin(-0.4 * tick_ns)).size(), 1u);
    EXPECT_EQ(events_of(begin(0.6 * tick_ns)).size(), 2u);
}

TEST(ReadoutStream, RejectsARepeatedFrameAndContinues) {
    ReadoutStream stream("test", grid, true);
    stream.push(frame_of(0, 0, 10));
    EXPECT_FALSE(stream.pop());
    const Error error = error_of([&] { stream.push(frame_of(0, 0, 10)); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_EQ(error.text().what, "frames of a series overlap or are out of order");
    const auto events = events_of(stream, {frame_of(1, 10, 20)});
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].frame.traces[0].samples.size(1), 20);
}

TEST(ReadoutStream, TagsThatDifferInTicksCannotBeCut) {
    Frame frame = frame_of(0, 0, 50);
    frame.traces.push_back(frame_of(0, 0, 40).traces[0]);
    frame.traces[1].tag = "other";
    const Error error = error_of([&] { events_of({frame}, false); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_NE(error.text().seen.find("40 ticks"), std::string::npos);
}

/// Windows of a readout of 50 ticks take four idents; the short readout after them takes one more.
TEST(ReadoutStream, IdentsAreUnique) {
    std::vector<int> idents;
    for (const auto& event : events_of({frame_of(3, 0, 50), frame_of(4, 0, 50), frame_of(5, 0, 10),
                                        frame_of(6, 0, 50), frame_of(20, 0, 5)},
                                       false)) {
        idents.push_back(event.frame.ident);
    }
    EXPECT_EQ(idents, (std::vector<int>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20}));
}

TEST(ReadoutStream, RejectsAReadoutWithMoreWindowsThanIdents) {
    constexpr int last = std::numeric_limits<int>::max();
    ReadoutStream stream("test", grid, false);
    stream.push(frame_of(last - 1, 0, 50));
    EXPECT_EQ(stream.pop()->frame.ident, last - 1);
    EXPECT_EQ(stream.pop()->frame.ident, last);
    const Error error = error_of([&] { stream.pop(); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_EQ(error.text().where, "event 2147483647");
    EXPECT_TRUE(stream.empty()) << "the rest of the readout is dropped: the next event does not fail again";
}

} // namespace
} // namespace spng
