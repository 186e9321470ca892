#pragma once
// The pure step behind the windows of FrameFileSource: frames in, events out. An event is a whole readout or
// one window of a long one.

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
    std::optional<ReadoutWindow> window; ///< nothing: a whole readout
};

/// Cuts readouts into windows and joins frames into readouts. Holds no more than one window and one frame.
///
/// A readout of at most grid.length() ticks that came as one frame leaves as it came. The windows of a longer
/// one (window_at) have its tags and channels, the times and channel masks of their own ticks and no
/// summaries. They are numbered on from the readout's ident, or from the last window's where that is higher,
/// so that no two events share a number; a whole readout that follows windows gets a higher number where its
/// own was given to one of them.
class ReadoutStream {
public:
    /// @param name    of the owner, for the log
    /// @param series  frames that follow each other in time are one readout: start and first tick of each
    ///                lie within half a tick of the end of the one before, with the same tags, channels,
    ///                period and type of samples. Otherwise a new readout begins, which the log says.
    ReadoutStream(std::string name, WindowGrid grid, bool series)
        : m_name(std::move(name)), m_grid(grid), m_series(series) {}

    /// The next frame of the input.
    /// Throws Error(Input) for a frame that begins earlier than the frame before it ended (series), and for
    /// one to be cut or joined whose tags differ in ticks. The frame is then left out.
    void push(Frame frame);
    /// No more frames will come.
    void end();

    /// The next event that is known; nothing when a frame is needed to tell, or all have been given.
    std::optional<ReadoutEvent> pop();

    /// All that was pushed has been given, and no event can come without another frame.
    bool empty() const;

private:
    /// Samples of one frame, all tags.
    struct Chunk {
        std::int64_t begin = 0; ///< tick of the readout
        std::vector<at::Tensor> samples;
        std::int64_t end() const { return begin + samples.front().size(1); }
    };
    struct Readout {
        Frame head; ///< the first frame without its samples
        std::deque<Chunk> chunks;
        std::int64_t ticks = 0; ///< that have come
        std::int64_t next_window = 0;
        bool is_complete = false;
        bool is_one_frame = true;
        double end_ns() const;
        void add(const Frame& frame);
        void forget_before(std::int64_t tick);
    };

    void begin_readout(Frame frame);
    void append(Readout& readout, const Frame& frame) const;
    /// Why a frame does not go on with the readout; empty when it does.
    std::string difference(const Readout& readout, const Frame& frame) const;
    Frame cut(const Readout& readout, std::int64_t begin, std::int64_t end) const;
    ReadoutEvent whole(Readout& readout);
    std::optional<ReadoutEvent> next_window(Readout& readout);

    std::string m_name;
    WindowGrid m_grid;
    bool m_series;
    std::deque<Readout> m_readouts; ///< the one that events are made of, and the one after it
    std::int64_t m_long_readouts = 0;
    std::optional<int> m_last_window_ident;
};

} // namespace spng
