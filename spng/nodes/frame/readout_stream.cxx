// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/readout_stream.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/io/mask_ticks.h"
#include "spng/nodes/channels/channel_ranges.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace spng {
namespace {

double first_sample_ns(const Frame& frame) {
    const TaggedTraces& traces = frame.traces.front();
    return traces.start_ns + traces.first_tick * traces.tick_ns;
}

void require_equal_ticks(const Frame& frame) {
    const TaggedTraces& first = frame.traces.front();
    for (const auto& traces : frame.traces) {
        if (traces.samples.size(1) != first.samples.size(1) || traces.start_ns != first.start_ns ||
            traces.tick_ns != first.tick_ns || traces.first_tick != first.first_tick) {
            const auto summary = [](const TaggedTraces& tag) {
                return std::to_string(tag.samples.size(1)) + " ticks from " + std::to_string(tag.start_ns) +
                       " ns in tag '" + tag.tag + "'";
            };
            throw Error(
                ErrorKind::Input,
                {.what = "the tags of a long readout differ in their ticks",
                 .where = "event " + std::to_string(frame.ident),
                 .seen = summary(first) + ", " + summary(traces),
                 .expected = "the same ticks in all tags, which are cut into readout windows together",
                 .hint = "use a file that holds only the tag to process"});
        }
    }
}

} // namespace

double ReadoutStream::Readout::end_ns() const {
    return first_sample_ns(head) + static_cast<double>(ticks) * head.traces.front().tick_ns;
}

std::string ReadoutStream::difference(const Readout& readout, const Frame& frame) const {
    const Frame& head = readout.head;
    const double tick = head.traces.front().tick_ns;
    const double gap = (first_sample_ns(frame) - readout.end_ns()) / tick;
    if (frame.traces.front().tick_ns != tick) {
        return "another sampling period";
    }
    if (gap < -0.5) {
        throw Error(
            ErrorKind::Input,
            {.what = "frames of a series overlap or are out of order",
             .where = "event " + std::to_string(frame.ident),
             .seen = "first sample at " + std::to_string(first_sample_ns(frame)) + " ns",
             .expected = std::to_string(readout.end_ns()) + " ns, the end of the previous frame, or later",
             .hint = "sort the frames by time; omit -A series=true for separate events"});
    }
    if (gap > 0.5) {
        return std::to_string(std::llround(gap)) + " ticks are missing";
    }
    if (head.traces.size() != frame.traces.size()) {
        return "other tags";
    }
    for (std::size_t i = 0; i < head.traces.size(); ++i) {
        const auto &before = head.traces[i], &now = frame.traces[i];
        if (before.tag != now.tag) {
            return "other tags";
        }
        if (before.channels != now.channels) {
            return "other channels in tag '" + now.tag + "'";
        }
        if (before.samples.scalar_type() != now.samples.scalar_type()) {
            return "another type of samples in tag '" + now.tag + "'";
        }
    }
    return {};
}

void ReadoutStream::begin_readout(Frame frame) {
    Readout& readout = m_readouts.emplace_back();
    readout.is_complete = !m_series;
    readout.add(frame);
    readout.head = std::move(frame);
    readout.head.channel_masks =
        shifted(std::move(readout.head.channel_masks), -std::int64_t{readout.head.traces.front().first_tick});
    for (auto& traces : readout.head.traces) {
        // Keep a tensor of 0 ticks: it has the sample type but no samples.
        traces.samples = traces.samples.narrow(1, 0, 0).clone();
    }
}

void ReadoutStream::Readout::add(const Frame& frame) {
    Chunk& chunk = chunks.emplace_back(Chunk{ticks, {}});
    for (const auto& traces : frame.traces) {
        chunk.samples.push_back(traces.samples);
    }
    ticks = chunk.end();
}

void ReadoutStream::append(Readout& readout, const Frame& frame) const {
    // A mask may reach beyond its frame. Clip it, because it does not apply to the next frame.
    ChannelMasks& masks = readout.head.channel_masks;
    if (readout.is_one_frame) {
        masks = masks_within(masks, 0, readout.ticks);
    }
    const std::int64_t first = frame.traces.front().first_tick;
    add_masks(masks, masks_within(frame.channel_masks, first, first + frame.traces.front().samples.size(1)),
              readout.ticks);
    readout.is_one_frame = false;
    readout.add(frame);
}

void ReadoutStream::push(Frame frame) {
    if (m_series || (m_grid.core > 0 && frame.traces.front().samples.size(1) > m_grid.length())) {
        require_equal_ticks(frame);
    }
    if (!m_readouts.empty() && !m_readouts.back().is_complete) {
        Readout& readout = m_readouts.back();
        const std::string other = difference(readout, frame);
        if (other.empty()) {
            append(readout, frame);
            return;
        }
        log::warn(m_name, [&] {
            return "a new readout begins with event " + std::to_string(frame.ident) + ": " + other;
        });
        readout.is_complete = true;
    }
    begin_readout(std::move(frame));
}

void ReadoutStream::end() {
    if (!m_readouts.empty()) {
        m_readouts.back().is_complete = true;
    }
}

Frame ReadoutStream::cut(const Readout& readout, std::int64_t begin, std::int64_t end) const {
    Frame frame = readout.head;
    for (std::size_t tag = 0; tag < frame.traces.size(); ++tag) {
        std::vector<at::Tensor> parts;
        for (const auto& chunk : readout.chunks) {
            const std::int64_t from = std::max(begin, chunk.begin), to = std::min(end, chunk.end());
            if (from < to) {
                parts.push_back(chunk.samples[tag].narrow(1, from - chunk.begin, to - from));
            }
        }
        TaggedTraces& traces = frame.traces[tag];
        traces.samples = parts.size() == 1 ? parts.front().contiguous() : at::cat(parts, 1);
        traces.start_ns += static_cast<double>(begin) * traces.tick_ns;
        traces.summary.reset();
    }
    frame.channel_masks =
        shifted(masks_within(readout.head.channel_masks, begin, end), frame.traces.front().first_tick);
    return frame;
}

void ReadoutStream::count_ident(Frame& frame) {
    if (m_last_ident && frame.ident <= *m_last_ident) {
        if (*m_last_ident == std::numeric_limits<int>::max()) {
            m_readouts.pop_front();
            throw Error(
                ErrorKind::Input,
                {.what = "the readout windows of a long readout need more event idents than there are",
                 .where = "event " + std::to_string(*m_last_ident),
                 .seen = "an ident after " + std::to_string(*m_last_ident),
                 .expected = "idents of 32 bits: each readout window has the next one",
                 .hint = "give the events of the file smaller idents"});
        }
        frame.ident = *m_last_ident + 1;
    }
    m_last_ident = frame.ident;
}

ReadoutEvent ReadoutStream::whole(Readout& readout) {
    ReadoutEvent event;
    if (readout.is_one_frame) {
        event.frame = std::move(readout.head);
        event.frame.channel_masks =
            shifted(std::move(event.frame.channel_masks), event.frame.traces.front().first_tick);
        for (std::size_t tag = 0; tag < event.frame.traces.size(); ++tag) {
            event.frame.traces[tag].samples = std::move(readout.chunks.front().samples[tag]);
        }
    } else {
        event.frame = cut(readout, 0, readout.ticks);
    }
    if (m_last_ident) {
        count_ident(event.frame);
    }
    return event;
}

std::optional<ReadoutEvent> ReadoutStream::pop() {
    if (m_readouts.empty()) {
        return std::nullopt;
    }
    Readout& readout = m_readouts.front();
    if (m_grid.core > 0 && readout.ticks > m_grid.length()) {
        return next_window(readout);
    }
    if (!readout.is_complete) {
        return std::nullopt;
    }
    ReadoutEvent event = whole(readout);
    m_readouts.pop_front();
    return event;
}

std::optional<ReadoutEvent> ReadoutStream::next_window(Readout& readout) {
    const auto window = window_at(m_grid, readout.next_window, readout.ticks, readout.is_complete);
    if (!window) {
        return std::nullopt;
    }
    ReadoutEvent event;
    event.frame = cut(readout, window->begin, window->end);
    count_ident(event.frame);
    m_long_readouts += readout.next_window == 0 ? 1 : 0;
    event.window = ReadoutWindow{m_long_readouts - 1, readout.next_window++,
                                 window->core_begin - window->begin, window->core_end - window->begin};
    if (window->core_end == readout.ticks) {
        m_readouts.pop_front();
    } else {
        // Keep the ticks of this readout window: the next one may be the last, which is moved back, at most
        // to this begin.
        readout.drop_before(window->begin);
    }
    return event;
}

void ReadoutStream::Readout::drop_before(std::int64_t tick) {
    while (chunks.front().end() <= tick) {
        chunks.pop_front();
    }
    for (auto& [name, ranges] : head.channel_masks) {
        std::erase_if(ranges, [tick](const ChannelRange& range) { return range.end <= tick; });
    }
}

bool ReadoutStream::empty() const {
    return m_readouts.empty();
}

} // namespace spng
