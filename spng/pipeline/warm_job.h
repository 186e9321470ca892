// SPDX-License-Identifier: Apache-2.0
#pragma once
// A job that waits for events from memory, prepared and run on a thread of its own.

#include "WireCellSpng/Pipeline.h"
#include "spng/job/job_session.h"
#include "spng/nodes/memory/event_queue.h"

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace spng {

/// Thread-safe, except construction and destruction.
class WarmJob {
public:
    /// Load and prepare the job. Its graph has one SPNGMemorySource, and at least one SPNGMemorySink.
    /// @param queue_size  events that may wait
    /// @throws Error
    WarmJob(JobRequest request, std::size_t queue_size);
    /// Finish the queued events.
    ~WarmJob();
    WarmJob(const WarmJob&) = delete;
    WarmJob& operator=(const WarmJob&) = delete;

    /// Makes the frame for the caller of the results of all sinks. Called on a thread of the job.
    using MakeFrame = std::function<OutputFrame(const EventResult& result)>;

    /// Queue an event, as EventQueue::push().
    std::future<OutputFrame> submit(QueuedEvent event, MakeFrame make_frame);

    /// Finish the queued events, and free the job. Later calls of submit() throw.
    void close();
    bool is_closed() const { return m_queue->is_closed(); }

    /// Do not use it after close().
    const Job& job() const { return m_session->job(); }

    /// The report of all events so far, or of the latest ones of a long run; also after close().
    instrument::RunReport report() const;

private:
    void work(JobRequest request, std::promise<void>& prepared);
    void connect();
    void run();

    std::shared_ptr<EventQueue> m_queue;
    mutable std::mutex m_mutex; ///< guards the members below after construction
    std::unique_ptr<JobSession> m_session;
    std::optional<instrument::RunReport> m_last_report; ///< after close()
    std::thread m_thread;
};

} // namespace spng
