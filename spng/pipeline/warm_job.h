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
#include <utility>

namespace spng {

/// Thread-safe, except construction and destruction.
class WarmJob {
public:
    /// Load and prepare the job. Its graph has one SPNGMemorySource, and at least one SPNGMemorySink.
    /// @param queue_size     events that may wait
    /// @param graph_threads  as RunOptions::graph_threads
    /// @throws Error
    WarmJob(JobRequest request, std::size_t queue_size, int graph_threads = 0);
    /// Finish the queued events.
    ~WarmJob();
    WarmJob(const WarmJob&) = delete;
    WarmJob& operator=(const WarmJob&) = delete;

    /// Makes the frame for the caller of the results of all sinks. Called on a thread of the job.
    using MakeFrame = std::function<OutputFrame(const EventResult& result)>;

    /// Queue an event, as EventQueue::push().
    std::future<OutputFrame> submit(QueuedEvent event, MakeFrame make_frame);

    /// Queue an event, as EventQueue::try_push().
    bool try_submit(QueuedEvent event, EventQueue::Done done) {
        return m_queue->try_push(std::move(event), std::move(done));
    }
    /// The queue, for its state.
    const EventQueue& queue() const { return *m_queue; }

    /// Finish the queued events, and free the job. Later calls of submit() throw.
    void close();
    bool is_closed() const { return m_queue->is_closed(); }

    /// Do not use it after close().
    const Job& job() const { return m_session->job(); }

    /// The report of all events so far, or of the latest ones of a long run; also after close().
    instrument::RunReport report() const;

private:
    void work(JobRequest request, int graph_threads, std::promise<void>& prepared);
    void connect();
    void run();

    std::shared_ptr<EventQueue> m_queue;
    mutable std::mutex m_mutex; ///< guards the members below after construction
    std::unique_ptr<JobSession> m_session;
    std::optional<instrument::RunReport> m_last_report; ///< after close()
    std::thread m_thread;
};

} // namespace spng
