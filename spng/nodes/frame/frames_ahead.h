// SPDX-License-Identifier: Apache-2.0
#pragma once
// Read-ahead of the events of a frame file.

#include "WireCellSpng/TorchnvTools.h"
#include "spng/io/frame.h"
#include "spng/nodes/frame/background_worker.h"

#include <cstdint>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spng {

/// Wrapper of a frame reader (FrameReader, JoinedFrameReader) that reads and decompresses the next event on a
/// background thread while the caller processes the current one. Frames come in the same order and errors are
/// the same as without it. One additional event is in memory.
template <class Reader>
class FramesAhead {
public:
    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    /// Start reading.
    /// @param ahead       false: read each event inside next(). Required for inputs that may block for ever
    ///                    (a FIFO, /dev/stdin), because the destructor waits for a pending read.
    /// @param max_frames  do not read more frames than this ahead of time
    FramesAhead(std::unique_ptr<Reader> reader, bool ahead, std::uint64_t max_frames = no_limit)
        : m_reader(std::move(reader)), m_max_frames(max_frames) {
        if (ahead) {
            m_worker = std::make_unique<BackgroundWorker>("read-ahead");
            ask_ahead();
        }
    }

    /// Return the reader's next frame; wait if it is still being read.
    std::optional<Frame> next() {
        Answer answer = m_pending.valid() ? m_pending.get() : ask();
        m_at_end = answer.at_end;
        m_share_read = answer.share_read;
        m_other_members = std::move(answer.other_members);
        m_frames_read += answer.frame ? 1 : 0;
        if (!m_at_end && (answer.frame || answer.failure)) {
            ask_ahead();
        }
        if (answer.failure) {
            std::rethrow_exception(answer.failure);
        }
        return std::move(answer.frame);
    }

    /// State of the reader after the last frame that next() has returned.
    bool at_end() const { return m_at_end; }
    double share_read() const { return m_share_read; }
    std::size_t frames_read() const { return m_frames_read; }
    const std::vector<std::string>& other_members() const { return m_other_members; }

private:
    /// Result of one read, with the state of the reader after it. The reader may be ahead of it when next()
    /// is called.
    struct Answer {
        std::optional<Frame> frame;
        std::exception_ptr failure;
        bool at_end = false;
        double share_read = 0;
        std::vector<std::string> other_members;
    };

    Answer ask() {
        NVTX_SCOPED_RANGE("FrameFileSource::read");
        Answer answer;
        try {
            answer.frame = m_reader->next();
        } catch (...) {
            answer.failure = std::current_exception();
        }
        answer.at_end = m_reader->at_end();
        answer.share_read = m_reader->share_read();
        answer.other_members = m_reader->other_members();
        return answer;
    }

    void ask_ahead() {
        if (m_worker && m_frames_read < m_max_frames) {
            m_pending = m_worker->submit([this] { return ask(); });
        }
    }

    /// Used by the worker while a read is pending, otherwise by the caller.
    std::unique_ptr<Reader> m_reader;
    std::uint64_t m_max_frames;
    std::size_t m_frames_read = 0;
    bool m_at_end = false;
    double m_share_read = 0;
    std::vector<std::string> m_other_members;
    std::future<Answer> m_pending;
    /// Null: no read-ahead. Last member, because its thread uses the others until it is destroyed.
    std::unique_ptr<BackgroundWorker> m_worker;
};

} // namespace spng
