// SPDX-License-Identifier: Apache-2.0
#pragma once
// Step of FrameFileSource: frames in, events out. An event is a whole readout or one readout window of a long
// readout.

#include "spng/io/frame.h"
#include "spng/nodes/frame/window_grid.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace spng {

struct ReadoutEvent {
    Frame frame;
    std::optional<ReadoutWindow> window; ///< empty: a whole readout
};

/// Join frames into readouts and cut long readouts into readout windows. Hold at most one readout
/// window and one frame.
///
/// A readout of one frame with at most grid.length() ticks is not changed. A longer readout becomes readout
/// windows (window_at) with its tags and channels, the times and channel masks of their own ticks, and no
/// summaries. The first one has the ident of the readout, each further one the next ident. An ident that a
/// readout window has already used is replaced by the next higher one, also for a whole readout, so that
/// every ident is unique.
class ReadoutStream {
public:
    /// @param name    name of the owner, for the log
    /// @param series  join consecutive frames into one readout. A frame continues the readout if its first
    ///                sample lies within half a tick of the end of the previous frame, and tags, channels,
    ///                sampling period and sample type are equal. Otherwise it begins a new readout, with a
    ///                warning.
    ReadoutStream(std::string name, WindowGrid grid, bool series)
        : m_name(std::move(name)), m_grid(grid), m_series(series) {}

    /// Add the next frame of the input.
    /// @throws Error(Input) if the frame begins before the end of the previous one (series), or if it must be
    ///         cut or joined and its tags differ in their ticks. The frame is then dropped.
    void push(Frame frame);
    /// Mark the end of the input.
    void end();

    /// Return the next complete event; nothing if another frame is needed first, or if no event is left.
    std::optional<ReadoutEvent> pop();

    /// Return whether all pushed frames were returned as events.
    bool empty() const;

private:
    /// Samples of one frame, for all tags.
    struct Chunk {
        std::int64_t begin = 0; ///< tick in the readout
        std::vector<at::Tensor> samples;
        std::int64_t end() const { return begin + samples.front().size(1); }
    };
    struct Readout {
        Frame head; ///< first frame without its samples; its masks count from the first sample
        std::deque<Chunk> chunks;
        std::int64_t ticks = 0; ///< received so far
        std::int64_t next_window = 0;
        bool is_complete = false;
        bool is_one_frame = true;
        double end_ns() const;
        void add(const Frame& frame);
        void drop_before(std::int64_t tick);
    };

    void begin_readout(Frame frame);
    void append(Readout& readout, const Frame& frame) const;
    /// Return why the frame does not continue the readout; empty if it does.
    std::string difference(const Readout& readout, const Frame& frame) const;
    Frame cut(const Readout& readout, std::int64_t begin, std::int64_t end) const;
    ReadoutEvent whole(Readout& readout);
    std::optional<ReadoutEvent> next_window(Readout& readout);
    /// Give the next event an ident above that of the event before it.
    /// @throws Error(Input) if there is none; the front readout is dropped
    void count_ident(Frame& frame);

    std::string m_name;
    WindowGrid m_grid;
    bool m_series;
    /// The readout that gives the next events, then at most one later readout.
    std::deque<Readout> m_readouts;
    std::int64_t m_long_readouts = 0;
    std::optional<int> m_last_ident; ///< of the last event, once there was a readout window
};

} // namespace spng
