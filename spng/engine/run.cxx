// SPDX-License-Identifier: Apache-2.0
#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/device/operation_threads.h"
#include "spng/device/process_owner.h"
#include "spng/engine/engine.h"
#include "spng/engine/head.h"
#include "spng/engine/tail.h"

#include "WireCellSpng/TorchnvTools.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace spng {
namespace {

/// The parts of a run: the head is polled, each event goes through the body, and then through the tail.
class Run {
public:
    Run(std::vector<Replica> replicas, Body& default_body, RunState& state, int events_in_flight)
        : m_replicas(std::move(replicas)), m_state(state), m_queues(m_replicas.size(), events_in_flight),
          m_attempts(m_replicas, m_queues, state), m_tail(m_attempts, m_queues, state),
          m_head(*m_replicas.front().parts, state) {
        for (Replica& replica : m_replicas) {
            replica.body = replica.body == nullptr ? &default_body : replica.body;
        }
    }

protected:
    /// Poll the head for the next event.
    /// @param before_wait  called before a source is asked whose next event may come late
    /// @return null at the end of the stream or of the run
    template <class BeforeWait>
    std::unique_ptr<InFlight> next(const BeforeWait& before_wait) {
        for (; !m_state.ending() && !m_head.at_end(); ++m_index) {
            if (m_head.must_wait()) {
                before_wait();
            }
            const auto replica = wait_for_slot();
            if (!replica || m_state.ending() || m_head.at_end()) {
                break;
            }
            auto in_flight = std::make_unique<InFlight>(m_index, *replica);
            const Head::Poll poll = m_head.poll(in_flight->event);
            if (poll == Head::Poll::ended) {
                break;
            }
            if (poll == Head::Poll::event) {
                ++m_index;
                return in_flight;
            }
            m_tail.deliver(std::move(in_flight), false);
        }
        return nullptr;
    }

    std::vector<Replica> m_replicas;
    RunState& m_state;
    ReplicaQueues m_queues;
    Attempts m_attempts;
    Tail m_tail;

private:
    /// Block until a replica has a free slot.
    std::optional<std::size_t> wait_for_slot() {
        NVTX_SCHEDULING_RANGE("Run::wait_for_slot", m_index);
        return m_queues.take();
    }

    Head m_head;
    std::uint64_t m_index = 0;
};

/// On a device, calls return before their work is done: the work of the next event is queued before this one is waited
/// for, so that the device is never idle. On the CPU, or if memory suffices for one event only or ran out once, each event
/// is finished first.
class SerialRun : Run {
public:
    SerialRun(std::vector<Replica> replicas, Body& body, RunState& state, int events_in_flight)
        : Run(std::move(replicas), body, state, events_in_flight),
          m_is_alone(events_in_flight < 2 || m_replicas.front().device.is_cpu()) {}

    void run() {
        while (auto in_flight = next([this] { finish_waiting(nullptr); })) {
            m_attempts.start(*in_flight);
            finish_waiting(in_flight.get());
            m_waiting = std::move(in_flight);
            if (m_is_alone) {
                finish_waiting(nullptr);
            }
        }
        finish_waiting(nullptr);
    }

private:
    /// @param later  the event that was started after the waiting one
    void finish_waiting(InFlight* later) {
        if (!m_waiting) {
            return;
        }
        const bool has_results = m_attempts.finish(*m_waiting, [&] {
            m_is_alone = true;
            if (later != nullptr) { // starts again when this event has left the memory
                later->call.reset();
                later->failure = nullptr;
            }
        });
        m_tail.deliver(std::move(m_waiting), has_results);
    }

    bool m_is_alone;
    std::unique_ptr<InFlight> m_waiting;
};

/// A task for each event. The caller's thread polls the head.
class ParallelRun : Run {
public:
    ParallelRun(std::vector<Replica> replicas, Body& body, RunState& state, int events_in_flight,
                int operation_threads)
        : Run(std::move(replicas), body, state, events_in_flight), m_operation_threads(operation_threads) {}

    void run() {
        try {
            while (auto in_flight = next([] {})) {
                m_begun.fetch_add(1, std::memory_order_release);
                m_events.run([this, event = in_flight.release()] { call(std::unique_ptr<InFlight>(event)); });
            }
        } catch (...) {
            wait(); // events in flight use members of this object
            throw;
        }
        wait();
    }

private:
    void wait() {
        m_events.wait();
        m_ended.load(std::memory_order_acquire);
    }

    void call(std::unique_ptr<InFlight> in_flight) {
        m_begun.load(std::memory_order_acquire);
        const OperationThreads threads(m_operation_threads); // oneTBB's threads serve host programs, too
        std::shared_lock together(m_body);
        std::unique_lock alone(m_body, std::defer_lock);
        const bool has_results = m_attempts.finish(*in_flight, [&] {
            if (together) {
                together.unlock();
                alone.lock();
            }
        });
        (together ? together.unlock() : alone.unlock());
        m_tail.deliver(std::move(in_flight), has_results);
        m_ended.fetch_add(1, std::memory_order_release);
    }

    const int m_operation_threads;
    /// Held by the events in the body: shared, or by one alone after it ran out of memory.
    std::shared_mutex m_body;
    /// oneTBB orders tasks, too, but inside its library, where thread sanitizer does not see it.
    std::atomic<std::uint64_t> m_begun{0}, m_ended{0};
    oneapi::tbb::task_group m_events;
};

} // namespace

void run_pgrapher(const std::vector<Replica>& replicas, RunState& state, int events_in_flight) {
    if (replicas.size() > 1) {
        log::warn("Pgrapher", "works on one event at a time, so the other devices of the job are idle "
                              "meanwhile; TbbFlow uses all of them");
    }
    SerialBody body;
    SerialRun(replicas, body, state, events_in_flight).run();
}

void require_tbb_flow() {
    static const pid_t user = ::getpid();
    if (const pid_t process = ::getpid(); process != user) {
        throw Error(ErrorKind::Usage,
                    {.what = "the engine TbbFlow cannot run in a child of fork()",
                     .seen = "process " + std::to_string(process) + ", whose parent " + std::to_string(user) +
                             " has the threads of oneTBB",
                     .expected = "TbbFlow in one of both processes",
                     .hint = "-A engine=Pgrapher in the child, or start children with the method spawn"});
    }
}

void run_tbb_flow(const std::vector<Replica>& replicas, RunState& state, ThreadCounts threads,
                  int events_in_flight) {
    // The caller's thread only feeds events and waits, so it is not one of the threads of the graph.
    auto all = static_cast<std::size_t>(threads.graph) + 1;
    using Limit = oneapi::tbb::global_control;
    const std::size_t allowed = Limit::active_value(Limit::max_allowed_parallelism); // in the process
    std::optional<Limit> raised;
    if (all > allowed && (owns_process() || allowed < 2)) {
        raised.emplace(Limit::max_allowed_parallelism, all);
    } else {
        all = std::min(all, allowed);
    }
    oneapi::tbb::task_arena arena(static_cast<int>(all), 1);
    const auto body = make_tbb_body(threads.operation);
    arena.execute([&] { ParallelRun(replicas, *body, state, events_in_flight, threads.operation).run(); });
}

} // namespace spng
