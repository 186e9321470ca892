// SPDX-License-Identifier: Apache-2.0
#pragma once
// Write-behind of events into a frame file.

#include "spng/io/frame_writer.h"
#include "spng/nodes/frame/background_worker.h"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>

namespace spng {

/// Wrapper of FrameWriter that compresses and writes an event on a background thread while the caller
/// processes the next one. At most one event is pending, so one additional event is in memory. The file has
/// the same bytes as without write-behind.
///
/// The first call after a failure throws an error that names the failed event. Every later call throws it
/// again: the file was removed, with all its events.
class FramesBehind {
public:
    /// @param path, level, form  see FrameWriter
    /// @param behind       false: write() returns after the event is written
    FramesBehind(const std::filesystem::path& path, std::optional<int> level, bool behind,
                 FrameForm form = FrameForm::dense);

    /// Wait until the previous event is written, then queue this one.
    /// @param event  index of the event, for error messages
    void write(Frame frame, std::uint64_t event);

    /// Wait for the last event and complete the file. Leave no file if no event was written.
    void close();

private:
    void write_now(const Frame& frame, std::uint64_t event);
    void wait();

    /// Used by the worker while an event is pending, otherwise by the caller.
    FrameWriter m_writer;
    std::exception_ptr m_failure;
    std::future<void> m_pending;
    /// Null: no write-behind. Last member, because its thread uses the others until it is destroyed.
    std::unique_ptr<BackgroundWorker> m_worker;
};

} // namespace spng
