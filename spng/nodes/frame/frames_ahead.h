#pragma once
// The events of a frame file, read ahead of being asked for.

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

/// What a reader of frames (FrameReader, JoinedFrameReader) gives, in the same order and with the same
/// errors; but the next event is read and decompressed on a thread of its own while the caller works on the
/// one before. One event more is then in memory.
template <class Reader>
class FramesAhead {
public:
    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    /// Begins to read.
    /// @param ahead  false: each event is read when next() asks for it. So it has to be for what can keep a
    ///               reader waiting for ever (a FIFO, /dev/stdin), since the destructor waits for it.
    /// @param most   events that will be asked for; none beyond is read
    FramesAhead(std::unique_ptr<Reader> reader, bool ahead, std::uint64_t most = no_limit)
        : m_reader(std::move(reader)), m_most(most) {
        if (ahead) {
            m_worker = std::make_unique<BackgroundWorker>("read-ahead");
            ask_ahead();
        }
    }

    /// As the reader's next(). Waits for an event that is still being read.
    std::optional<Frame> next() {
        Answer answer = m_pending.valid() ? m_pending.get() : ask();
        m_at_end = answer.at_end;
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

    /// As those of the reader, for what next() has returned.
    bool at_end() const { return m_at_end; }
    std::size_t frames_read() const { return m_frames_read; }
    const std::vector<std::string>& other_members() const { return m_other_members; }

private:
    /// What the reader said, and how it stood then: it may be further when next() is asked.
    struct Answer {
        std::optional<Frame> frame;
        std::exception_ptr failure;
        bool at_end = false;
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
        answer.other_members = m_reader->other_members();
        return answer;
    }

    void ask_ahead() {
        if (m_worker && m_frames_read < m_most) {
            m_pending = m_worker->submit([this] { return ask(); });
        }
    }

    std::unique_ptr<Reader> m_reader; ///< used by the worker while an answer is pending, else by the caller
    std::uint64_t m_most;
    std::size_t m_frames_read = 0;
    bool m_at_end = false;
    std::vector<std::string> m_other_members;
    std::future<Answer> m_pending;
    std::unique_ptr<BackgroundWorker> m_worker; ///< null: nothing is read ahead. Last: it uses the others
};

} // namespace spng
