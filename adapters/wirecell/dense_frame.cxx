// SPDX-License-Identifier: Apache-2.0
#include "adapters/wirecell/dense_frame.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace spng::wirecell {
namespace {

using Segments = std::vector<const TraceView*>;

constexpr std::int64_t max_samples = std::int64_t{1} << 31;

[[noreturn]] void reject(std::string what, std::string seen, std::string expected, std::string hint = {}) {
    throw Error(ErrorKind::Input, {.what = std::move(what),
                                   .where = "input frame",
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = std::move(hint)});
}

std::int64_t begin_of(const TraceView& trace) {
    return trace.first_tick;
}

std::int64_t end_of(const TraceView& trace) {
    return trace.first_tick + static_cast<std::int64_t>(trace.count);
}

std::string describe_ticks(std::int64_t begin, std::int64_t end) {
    return std::to_string(begin) + " to " + std::to_string(end);
}

/// Order the traces of a channel by time.
/// @throws Error(Input) if two overlap
void sort_by_time(Segments& segments) {
    std::sort(segments.begin(), segments.end(),
              [](const TraceView* a, const TraceView* b) { return a->first_tick < b->first_tick; });
    for (std::size_t i = 1; i < segments.size(); ++i) {
        const TraceView &before = *segments[i - 1], &after = *segments[i];
        if (end_of(before) > begin_of(after)) {
            reject("a channel is repeated",
                   "channel " + std::to_string(after.channel) + " twice, ticks " +
                       describe_ticks(begin_of(before), end_of(before)) + " and " +
                       describe_ticks(begin_of(after), end_of(after)),
                   "traces of a channel that do not overlap", "choose the traces of one tag with key intag");
        }
    }
}

bool are_int16(const std::vector<TraceView>& traces) {
    constexpr float low = std::numeric_limits<std::int16_t>::min();
    constexpr float high = std::numeric_limits<std::int16_t>::max();
    return std::all_of(traces.begin(), traces.end(), [](const TraceView& trace) {
        return std::all_of(trace.samples, trace.samples + trace.count, [](float sample) {
            return sample >= low && sample <= high && std::trunc(sample) == sample;
        });
    });
}

template <class Sample>
void fill(InputFrame& frame, const std::vector<Segments>& rows) {
    auto samples =
        std::make_shared<std::vector<Sample>>(static_cast<std::size_t>(frame.channels * frame.ticks));
    Sample* row = samples->data();
    for (const Segments& segments : rows) {
        for (const TraceView* trace : segments) {
            std::transform(trace->samples, trace->samples + trace->count,
                           row + (trace->first_tick - frame.first_tick),
                           [](float sample) { return static_cast<Sample>(sample); });
        }
        row += frame.ticks;
    }
    frame.samples = samples->data();
    frame.owner = std::move(samples);
}

/// Return the ticks without samples.
std::vector<ChannelRange> gaps_of(const InputFrame& frame, const std::vector<Segments>& rows) {
    std::vector<ChannelRange> gaps;
    for (const Segments& segments : rows) {
        const int channel = segments.front()->channel;
        std::int64_t done = frame.first_tick;
        for (const TraceView* trace : segments) {
            if (begin_of(*trace) > done) {
                gaps.push_back({channel, done, begin_of(*trace)});
            }
            done = end_of(*trace);
        }
        if (const std::int64_t end = frame.first_tick + frame.ticks; done < end) {
            gaps.push_back({channel, done, end});
        }
    }
    return gaps;
}

} // namespace

InputFrame dense_frame(const std::vector<TraceView>& traces) {
    if (traces.empty()) {
        reject("the frame has no channels", "no traces", "at least one channel and one tick");
    }
    InputFrame frame;
    std::vector<Segments> rows;
    std::unordered_map<int, std::size_t> row_of_channel;
    std::int64_t begin = std::numeric_limits<std::int64_t>::max(),
                 end = std::numeric_limits<std::int64_t>::min();
    for (const TraceView& trace : traces) {
        if (trace.count == 0) {
            reject("a trace has no samples", "channel " + std::to_string(trace.channel), "at least one tick");
        }
        const auto [row, is_new] = row_of_channel.emplace(trace.channel, rows.size());
        if (is_new) {
            rows.emplace_back();
            frame.channel_ids.push_back(trace.channel);
        }
        rows[row->second].push_back(&trace);
        begin = std::min(begin, begin_of(trace));
        end = std::max(end, end_of(trace));
    }
    frame.channels = static_cast<std::int64_t>(rows.size());
    frame.ticks = end - begin;
    frame.first_tick = static_cast<int>(begin);
    if (frame.ticks > max_samples / frame.channels) {
        reject("the shape of the samples is impossible",
               std::to_string(frame.channels) + " channels, ticks " + describe_ticks(begin, end),
               "at most " + std::to_string(max_samples) + " samples");
    }
    for (Segments& segments : rows) {
        sort_by_time(segments);
    }
    if (are_int16(traces)) {
        frame.type = SampleType::int16;
        fill<std::int16_t>(frame, rows);
    } else {
        frame.type = SampleType::float32;
        fill<float>(frame, rows);
    }
    if (auto gaps = gaps_of(frame, rows); !gaps.empty()) {
        frame.masks["bad"] = std::move(gaps);
    }
    return frame;
}

} // namespace spng::wirecell
