// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events on their way into a running job and out of it again.

#include "spng/core/error.h"
#include "spng/core/tensor_set.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// The content of a set that the source of the job makes.
struct QueuedEvent {
    std::shared_ptr<EventInfo> info; ///< the source sets its index
    std::vector<NamedTensor> tensors;
};

struct EventResult {
    std::map<std::string, TensorSetPtr> sets; ///< by instance name of the SPNGMemorySink
    double waited_seconds = 0;                ///< in the queue
    double run_seconds = 0;                   ///< in the graph
};

/// Connects the owner of a job, its SPNGMemorySource and its SPNGMemorySinks. Thread-safe.
class EventQueue {
public:
    /// @param capacity  events that may wait
    explicit EventQueue(std::size_t capacity) : m_capacity(capacity) {}

    // Calls of the owner

    /// Receives the result of an event, or its error and an empty result. Called once, on any thread; must not throw.
    using Done = std::function<void(EventResult result, std::exception_ptr error)>;

    /// Queue an event. Block while the queue is full.
    /// @throws Error(Usage) after close(); the error of the job if it has ended
    void push(QueuedEvent event, Done done);
    /// The same, but return false at once if the queue is full.
    bool try_push(QueuedEvent event, Done done);
    /// Take no more events. The job ends when the queue is empty.
    void close();
    bool is_closed() const;
    /// Events that wait.
    std::size_t size() const;
    /// Return the reason for which the job has ended; nothing while it runs.
    std::optional<Error> end_reason() const;
    /// Return the error of events after close().
    static Error closed();
    /// The job has ended: fail all events that have no result, and all later ones.
    void end(const Error& reason);

    // Calls of the job

    /// Count a sink of the job. An event is complete when all have delivered.
    void add_sink() { ++m_sinks; }
    /// Take the next event. Block while there is none.
    /// @return null after close()
    TensorSetPtr pop();
    bool is_empty() const;
    /// True if pop() would return null.
    bool is_at_end() const;
    void deliver(const std::string& sink, const TensorSetPtr& set);
    /// @param event  its index in the job
    void fail(std::uint64_t event, const Error& error);

private:
    struct Waiting {
        QueuedEvent event;
        Done done;
        std::int64_t since = 0; ///< wall_nanoseconds() of push() or pop()
        EventResult result{};
    };

    /// Throw the error for events after the end of the queue or of the job. Call with the lock.
    void require_open() const;

    std::size_t m_capacity;
    std::size_t m_sinks = 0;
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Waiting> m_queue;
    std::map<std::uint64_t, Waiting> m_running; ///< by index in the job
    std::uint64_t m_next = 0;
    bool m_closed = false;
    std::optional<Error> m_end;
};

} // namespace spng
