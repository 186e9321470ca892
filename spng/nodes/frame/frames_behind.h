#pragma once
// Events on their way into a frame file.

#include "spng/io/frame_writer.h"
#include "spng/nodes/frame/background_worker.h"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>

namespace spng {

/// A FrameWriter whose events are compressed and written on a thread of their own while the caller works on
/// the next one. At most one event is on its way, so that one event more is in memory; equal events give
/// equal files, written behind or not.
///
/// A failure comes out of the first call after it, names the event that it belongs to, and comes out of every
/// later call too: the file is gone, and no event is in it.
class FramesBehind {
public:
    /// See FrameWriter.
    /// @param behind  false: write() returns when the event is written
    FramesBehind(const std::filesystem::path& path, std::optional<int> level, bool behind);

    /// Waits until the event before is written, then hands this one over.
    /// @param event  its index, for messages
    void write(Frame frame, std::uint64_t event);

    /// Waits for the last event and completes the file. With no event written nothing is left.
    void close();

private:
    void write_now(const Frame& frame, std::uint64_t event);
    void wait();

    FrameWriter m_writer; ///< used by the worker while an event is pending, else by the caller
    bool m_wrote_an_event = false;
    std::exception_ptr m_failure;
    std::future<void> m_pending;
    std::unique_ptr<BackgroundWorker> m_worker; ///< null: nothing is written behind. Last: it uses the others
};

} // namespace spng
