// SPDX-License-Identifier: Apache-2.0
#pragma once
// Read-ahead of the events of a frame file.

#include "WireCellSpng/TorchnvTools.h"
#include "spng/io/frame_reader.h"
#include "spng/nodes/frame/background_worker.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spng {

/// Wrapper of a frame reader (FrameReader, JoinedFrameReader) that reads and decompresses the next events on background
/// threads while the caller processes the current one. Frames come in the same order and errors are the same as without
/// it. Where the events of a file can be read apart (FrameReader::next_task()), the threads work at the same time.
template <class Reader>
class FramesAhead {
public:
    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    /// Start reading.
    /// @param ahead       events to read ahead, each on a thread of its own; all of them are in memory. 0: read each event
    ///                    inside next(). Required for inputs that may block for ever (a FIFO, /dev/stdin), because the
    ///                    destructor waits for a pending read.
    /// @param max_frames  do not read more frames than this ahead of time
    FramesAhead(std::unique_ptr<Reader> reader, std::size_t ahead, std::uint64_t max_frames = no_limit)
        : m_reader(std::move(reader)), m_max_frames(max_frames) {
        for (std::size_t i = 0; i < ahead; ++i) {
            m_workers.push_back(std::make_unique<BackgroundWorker>("read-ahead"));
        }
        ask_ahead();
    }

    /// Return the reader's next frame; wait if it is still being read.
    std::optional<Frame> next() {
        Answer answer;
        if (m_pending.empty()) {
            answer = read([] {});
        } else {
            answer = m_pending.front().get();
            m_pending.pop_front();
        }
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

    /// @param leave_reader  called when the reader may serve the next event
    template <class LeaveReader>
    Answer read(const LeaveReader& leave_reader) {
        NVTX_SCOPED_RANGE("FrameFileSource::read");
        Answer answer;
        std::optional<FrameTask> task;
        try {
            task = m_reader->next_task();
        } catch (...) {
            answer.failure = std::current_exception();
        }
        answer.at_end = m_reader->at_end();
        answer.share_read = m_reader->share_read();
        answer.other_members = m_reader->other_members();
        leave_reader();
        try {
            if (task) {
                answer.frame = (*task)();
            }
        } catch (...) {
            answer.failure = std::current_exception();
        }
        return answer;
    }

    void ask_ahead() {
        while (m_pending.size() < m_workers.size() && m_frames_read + m_pending.size() < m_max_frames) {
            const auto is_free = std::make_shared<std::promise<void>>();
            const auto before = std::exchange(m_reader_is_free, is_free->get_future().share());
            m_pending.push_back(m_workers[m_asked++ % m_workers.size()]->submit([this, before, is_free] {
                if (before.valid()) {
                    before.wait();
                }
                return read([&] { is_free->set_value(); });
            }));
        }
    }

    std::unique_ptr<Reader> m_reader; ///< used by one thread after the other
    std::uint64_t m_max_frames;
    std::size_t m_frames_read = 0;
    bool m_at_end = false;
    double m_share_read = 0;
    std::vector<std::string> m_other_members;
    std::shared_future<void> m_reader_is_free; ///< when the last task has left it
    std::deque<std::future<Answer>> m_pending; ///< in the order of the events
    std::size_t m_asked = 0;
    /// Last member, because the threads use the others until they are destroyed.
    std::vector<std::unique_ptr<BackgroundWorker>> m_workers;
};

} // namespace spng
