// SPDX-License-Identifier: Apache-2.0
// Read-ahead and write-behind of frame files give the same frames, errors and bytes, in the same order.

#include "spng/core/error.h"
#include "spng/instrument/background_thread.h"
#include "spng/instrument/clock.h"
#include "spng/nodes/frame/frames_ahead.h"
#include "spng/nodes/frame/frames_behind.h"
#include "tests/support/paths.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace spng {
namespace {

Frame make_frame(int ident) {
    Frame frame;
    frame.ident = ident;
    frame.traces.push_back({"adc", at::full({3, 50}, ident, at::kShort), {1, 2, 3}, 0.0, 500.0, 0, {}});
    return frame;
}

/// Return frames 0, 1, ...; frame 2 is damaged. Count the calls.
struct CountingReader {
    explicit CountingReader(std::atomic<int>& the_calls, int the_frames = 5)
        : calls(the_calls), frames(the_frames) {}
    std::optional<FrameTask> next_task() {
        const int index = calls++;
        if (index >= frames) {
            return std::nullopt;
        }
        return [index] {
            if (index == 2) {
                throw std::runtime_error("damaged");
            }
            return make_frame(index);
        };
    }
    double share_read() const { return 0; }
    bool at_end() const { return calls >= frames; }
    std::vector<std::string> other_members() const { return {}; }
    std::atomic<int>& calls;
    int frames;
};

/// Return the idents of the events in order; -1 for a damaged event.
std::vector<int> all_of(FramesAhead<CountingReader>& source, int max_events = 100) {
    std::vector<int> seen;
    while (!source.at_end() && max_events-- > 0) {
        try {
            const auto frame = source.next();
            if (!frame) {
                break;
            }
            seen.push_back(frame->ident);
        } catch (const std::runtime_error&) {
            seen.push_back(-1);
        }
    }
    return seen;
}

void wait_for(const std::atomic<int>& calls, int count) {
    const instrument::Stopwatch watch;
    while (calls < count && watch.seconds() < 30) {
        std::this_thread::yield();
    }
}

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(FramesAhead, FramesAndErrorsComeInOrder) {
    for (const std::size_t ahead : {0, 1, 2, 3, 8}) {
        std::atomic<int> calls{0};
        FramesAhead<CountingReader> source(std::make_unique<CountingReader>(calls), ahead);
        EXPECT_EQ(all_of(source), (std::vector<int>{0, 1, -1, 3, 4})) << ahead;
        EXPECT_TRUE(source.at_end());
        EXPECT_EQ(source.frames_read(), 4u);
    }
}

TEST(FramesAhead, ReadsExactlyOneEventAhead) {
    std::atomic<int> calls{0};
    FramesAhead<CountingReader> source(std::make_unique<CountingReader>(calls), 1);
    wait_for(calls, 1);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(source.next()->ident, 0);
    wait_for(calls, 2);
    EXPECT_EQ(calls, 2);
    EXPECT_FALSE(source.at_end()) << "the reader is ahead of the caller";
    EXPECT_EQ(source.frames_read(), 1u);
}

TEST(FramesAhead, ReadAheadCanBeSwitchedOff) {
    std::atomic<int> calls{0};
    FramesAhead<CountingReader> source(std::make_unique<CountingReader>(calls), 0);
    source.next();
    EXPECT_EQ(calls, 1);
}

TEST(FramesAhead, NothingIsReadBeyondTheWantedEvents) {
    for (const std::size_t ahead : {1, 2, 8}) {
        std::atomic<int> calls{0};
        {
            FramesAhead<CountingReader> source(std::make_unique<CountingReader>(calls), ahead, 2);
            EXPECT_EQ(all_of(source, 2), (std::vector<int>{0, 1}));
        }
        EXPECT_EQ(calls, 2);
    }
}

TEST(FramesAhead, ReturnsNothingAtAnUnknownEnd) {
    std::atomic<int> calls{0};
    FramesAhead<CountingReader> source(std::make_unique<CountingReader>(calls, 0), 1);
    EXPECT_FALSE(source.next());
    EXPECT_FALSE(source.next());
}

TEST(FramesBehind, TheSameBytesAsWithout) {
    const auto folder = test::temporary_folder("frames-behind");
    for (const bool behind : {false, true}) {
        FramesBehind sink(folder / (behind ? "behind.npz" : "now.npz"), {}, behind);
        for (int ident = 0; ident < 4; ++ident) {
            sink.write(make_frame(ident), static_cast<std::uint64_t>(ident));
        }
        sink.close();
    }
    EXPECT_EQ(bytes_of(folder / "behind.npz"), bytes_of(folder / "now.npz"));
    EXPECT_GT(bytes_of(folder / "now.npz").size(), 500u);
}

TEST(FramesBehind, AFailureNamesItsEventAndStays) {
    for (const bool behind : {false, true}) {
        const auto folder = test::temporary_folder("frames-behind");
        FramesBehind sink(folder / "out.npz", {}, behind);
        sink.write(make_frame(0), 0);
        Frame wrong = make_frame(1);
        wrong.traces[0].channels.pop_back(); // FrameWriter rejects it
        const auto message_of = [&](auto call) -> std::string {
            try {
                call();
            } catch (Error& error) {
                error.add_where("a caller that adds its name");
                return error.text().where;
            }
            return "no error";
        };
        std::string first = message_of([&] { sink.write(std::move(wrong), 1); });
        if (behind) {
            EXPECT_EQ(first, "no error") << "the event is still pending";
            first = message_of([&] { sink.write(make_frame(2), 2); });
        }
        EXPECT_NE(first.find("writing event 1"), std::string::npos) << first;
        EXPECT_EQ(message_of([&] { sink.write(make_frame(3), 3); }), first) << "the same error, unchanged";
        EXPECT_EQ(message_of([&] { sink.close(); }), first);
        EXPECT_FALSE(std::filesystem::exists(folder / "out.npz"));
    }
}

TEST(FramesBehind, WithoutEventsNothingIsLeft) {
    const auto folder = test::temporary_folder("frames-behind");
    {
        FramesBehind sink(folder / "out.npz", {}, true);
        sink.close();
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(BackgroundWorker, TasksRunInOrderAndItsTimeIsNotThatOfNodes) {
    const auto spin = [] {
        const std::int64_t end =
            instrument::cpu_nanoseconds(instrument::CpuClock::Thread) + std::int64_t{50'000'000};
        while (instrument::cpu_nanoseconds(instrument::CpuClock::Thread) < end) {
        }
    };
    BackgroundWorker worker("test-worker");
    std::vector<int> order;
    worker.submit([&] { order.push_back(1); });
    worker.submit([&] { order.push_back(2); }).get();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_EQ(worker.submit([] { return at::get_num_threads(); }).get(), 1)
        << "an operation in a task starts no OpenMP threads";

    const std::int64_t beside = instrument::background_cpu_nanoseconds();
    const std::int64_t nodes = instrument::cpu_nanoseconds(instrument::CpuClock::Process);
    worker.submit(spin).get();
    EXPECT_GE(instrument::background_cpu_nanoseconds() - beside, 49'000'000);
    EXPECT_LT(instrument::cpu_nanoseconds(instrument::CpuClock::Process) - nodes, 20'000'000);
    EXPECT_GE(instrument::background_cpu_by_name().at("test-worker"), 49'000'000);
}

TEST(BackgroundWorker, ItsTimeIsKeptWhenItEnds) {
    {
        BackgroundWorker("short-lived").submit([] {}).get();
    }
    EXPECT_TRUE(instrument::background_cpu_by_name().contains("short-lived"));
}

} // namespace
} // namespace spng
