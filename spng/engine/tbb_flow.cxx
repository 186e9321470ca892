// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/engine.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"
#include "spng/device/operation_threads.h"
#include "spng/device/process_owner.h"
#include "spng/engine/second_try.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace spng {
namespace {

namespace flow = oneapi::tbb::flow;

struct InFlight {
    InFlight(const Replica& the_replica, RunState& state, std::uint64_t index, std::size_t replica_index)
        : event(the_replica, state, index), replica(replica_index) {}
    EventRun event;
    std::size_t replica;
    /// Call the nodes one after the other, after the event ran out of memory twice.
    std::atomic<bool> one_by_one{false};
    /// Raised when a task of the event is passed on and read when it begins. oneTBB orders both, too, but inside its
    /// library, where thread sanitizer does not see it.
    std::atomic<std::uint64_t> passed_on{0};
    std::mutex mutex; ///< guards is_busy and deferred
    bool is_busy = false;
    std::set<std::size_t> deferred;
};
using InFlightPtr = std::shared_ptr<InFlight>;

/// Calls that run on one replica, and the events that wait until none runs.
class Activity {
public:
    void begins() {
        const std::lock_guard lock(m_mutex);
        ++m_calls;
    }
    /// @return the earliest waiting event, to restart now, if no call runs any more
    InFlightPtr ends() {
        const std::lock_guard lock(m_mutex);
        if (--m_calls > 0 || m_waiting.empty()) {
            return nullptr;
        }
        return m_waiting.extract(m_waiting.begin()).mapped();
    }
    /// Call during a call of the replica, so that the end of that call finds the event.
    void wait_until_idle(const InFlightPtr& in_flight) {
        const std::lock_guard lock(m_mutex);
        m_waiting.emplace(in_flight->event.index(), in_flight);
    }

private:
    std::mutex m_mutex;
    int m_calls = 0; ///< calls of nodes that are not shared, from put() to call_ended()
    std::map<std::uint64_t, InFlightPtr> m_waiting;
};

/// The order of the calls of a shared node: one event after the other, in the order of the input, so that output
/// files do not depend on timing. An event whose call was deferred keeps its turn.
class Turns {
public:
    /// @return the event to call now, if there is one
    InFlightPtr arrives(const InFlightPtr& in_flight) {
        const std::lock_guard lock(m_mutex);
        m_waiting.emplace(in_flight->event.index(), in_flight);
        return take();
    }
    /// The call of an event ended.
    /// @return the event to call now, if there is one
    InFlightPtr ends(bool deferred) {
        const std::lock_guard lock(m_mutex);
        m_is_busy = false;
        m_next += deferred ? 0 : 1;
        return take();
    }

private:
    InFlightPtr take() {
        if (m_is_busy || m_waiting.empty() || m_waiting.begin()->first != m_next) {
            return nullptr;
        }
        m_is_busy = true;
        return m_waiting.extract(m_waiting.begin()).mapped();
    }

    std::mutex m_mutex;
    std::uint64_t m_next = 0;
    bool m_is_busy = false;
    std::map<std::uint64_t, InFlightPtr> m_waiting;
};

class Flow {
public:
    Flow(const std::vector<Replica>& replicas, RunState& state, int events_in_flight, int operation_threads)
        : m_replicas(replicas), m_graph(*replicas.front().graph), m_state(state),
          m_operation_threads(operation_threads), m_queues(replicas.size(), events_in_flight),
          m_activity(replicas.size()) {
        for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
            const bool shared = is_shared(*m_graph.vertices()[i].node);
            m_bodies.push_back(
                std::make_unique<Body>(m_flow, flow::unlimited, [this, i](const InFlightPtr& in_flight) {
                    in_flight->passed_on.load(std::memory_order_acquire);
                    call(i, in_flight);
                    m_ended_calls.fetch_add(1, std::memory_order_release);
                    return flow::continue_msg{};
                }));
            m_turns.push_back(shared ? std::make_unique<Turns>() : nullptr);
        }
    }

    void run() {
        try {
            feed();
        } catch (...) {
            wait_for_calls(); // events in flight use members of this object
            throw;
        }
        wait_for_calls();
    }

private:
    using Body = flow::function_node<InFlightPtr, flow::continue_msg>;

    void feed() {
        for (std::uint64_t index = 0;; ++index) {
            const auto replica = wait_for_slot(index);
            if (!replica || m_state.ending() || is_at_end(m_graph)) {
                break;
            }
            auto in_flight = std::make_shared<InFlight>(m_replicas[*replica], m_state, index, *replica);
            std::vector<std::size_t> ready;
            if (!call_sources(*in_flight, ready)) {
                break;
            }
            give(ready, in_flight);
        }
    }

    void wait_for_calls() {
        m_flow.wait_for_all();
        m_ended_calls.load(std::memory_order_acquire);
    }

    /// Block until a replica has a free slot.
    std::optional<std::size_t> wait_for_slot([[maybe_unused]] std::uint64_t next_event) {
        NVTX_SCHEDULING_RANGE("TbbFlow::wait_for_slot", next_event);
        return m_queues.take();
    }

    bool call_sources(InFlight& in_flight, std::vector<std::size_t>& ready) {
        EventRun& event = in_flight.event;
        NVTX_SCHEDULING_RANGE("TbbFlow::feed", event.index());
        std::set<std::size_t> callable;
        for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
            if (is_source(i)) {
                callable.insert(i);
            }
        }
        const auto find_source = [&] {
            return std::find_if(callable.begin(), callable.end(), [this](auto i) { return is_source(i); });
        };
        for (auto next = find_source(); next != callable.end(); next = find_source()) {
            const Progress progress = event.call(callable.extract(next).value());
            if (progress.stream_ended) {
                return false;
            }
            if (progress.lost) {
                lose_replica(event, in_flight.replica, m_queues);
            }
            callable.insert(progress.ready.begin(), progress.ready.end());
            if (progress.deferred != Stall::none) { // the device is lost
                const auto restarted = restart_elsewhere(in_flight);
                callable = {restarted.begin(), restarted.end()};
            }
        }
        ready.assign(callable.begin(), callable.end());
        return true;
    }

    bool is_source(std::size_t vertex) const { return m_graph.vertices()[vertex].input_edges.empty(); }

    void call(std::size_t vertex, const InFlightPtr& in_flight) {
        const std::size_t replica = in_flight->replica;
        const bool shared = m_turns[vertex] != nullptr;
        const Progress progress = [&] {
            const OperationThreads threads(m_operation_threads); // oneTBB's threads serve host programs, too
            return in_flight->event.call(vertex);
        }();
        if (shared) {
            put_if(m_turns[vertex]->ends(progress.deferred != Stall::none), vertex);
        }
        {
            NVTX_SCHEDULING_RANGE("TbbFlow::hand_over", in_flight->event.index());
            give(progress.ready, in_flight);
        }
        if (in_flight->one_by_one && !shared) {
            give_next(in_flight);
        }
        const bool counts = !shared || progress.stalled == Stall::memory;
        if (shared && counts) {
            m_activity[replica].begins(); // so that its end restarts the event if nothing else runs
        }
        if (progress.stalled != Stall::none) {
            recover(in_flight, progress.stalled);
        }
        if (progress.lost) {
            lose_replica(in_flight->event, replica, m_queues);
        }
        if (progress.complete) {
            in_flight->event.complete();
            m_queues.give_back(in_flight->replica);
        }
        if (counts) {
            call_ended(replica);
        }
    }

    /// Pass ready vertices to oneTBB. A failed event drains through all vertices, so that no shared node waits for it.
    void give(const std::vector<std::size_t>& ready, const InFlightPtr& in_flight) {
        for (const std::size_t vertex : ready) {
            if (m_turns[vertex]) {
                put_if(m_turns[vertex]->arrives(in_flight), vertex);
            } else if (in_flight->one_by_one) {
                const std::lock_guard lock(in_flight->mutex);
                in_flight->deferred.insert(vertex);
            } else {
                put(vertex, in_flight);
            }
        }
        if (in_flight->one_by_one) {
            give_first(in_flight);
        }
    }

    void put(std::size_t vertex, const InFlightPtr& in_flight) {
        m_activity[in_flight->replica].begins();
        pass_on(vertex, in_flight);
    }

    void pass_on(std::size_t vertex, const InFlightPtr& in_flight) {
        in_flight->passed_on.fetch_add(1, std::memory_order_release);
        m_bodies[vertex]->try_put(in_flight);
    }

    /// Call a shared node with the event whose turn it is, if there is one.
    void put_if(const InFlightPtr& in_flight, std::size_t vertex) {
        if (in_flight) {
            pass_on(vertex, in_flight);
        }
    }

    /// Pass the first deferred node on if none is busy.
    void give_first(const InFlightPtr& in_flight) {
        std::optional<std::size_t> vertex;
        {
            const std::lock_guard lock(in_flight->mutex);
            if (!in_flight->is_busy && !in_flight->deferred.empty()) {
                vertex = *in_flight->deferred.begin();
                in_flight->deferred.erase(in_flight->deferred.begin());
                in_flight->is_busy = true;
            }
        }
        if (vertex) {
            put(*vertex, in_flight);
        }
    }

    void give_next(const InFlightPtr& in_flight) {
        {
            const std::lock_guard lock(in_flight->mutex);
            in_flight->is_busy = false;
        }
        give_first(in_flight);
    }

    void recover(const InFlightPtr& in_flight, Stall stalled) {
        if (stalled == Stall::device) {
            give(restart_elsewhere(*in_flight), in_flight);
            return;
        }
        EventRun& event = in_flight->event;
        const std::size_t replica = in_flight->replica;
        const SecondTry next = second_try(event, stalled, replica, m_replicas, m_queues, m_state);
        if (next.action == RecoveryAction::alone) {
            m_activity[replica].wait_until_idle(in_flight);
        } else {
            give(event.restart(), in_flight);
        }
    }

    /// Restart an event whose device is lost, on another one if possible.
    /// @return vertices that can be called now
    std::vector<std::size_t> restart_elsewhere(InFlight& in_flight) {
        const SecondTry next =
            second_try(in_flight.event, Stall::device, in_flight.replica, m_replicas, m_queues, m_state);
        if (next.action == RecoveryAction::give_up) {
            return in_flight.event.restart();
        }
        in_flight.replica = next.replica;
        return in_flight.event.restart_on(m_replicas[next.replica]);
    }

    void call_ended(std::size_t replica) {
        if (const InFlightPtr next = m_activity[replica].ends()) {
            next->one_by_one = next->event.restarts() > 0;
            const auto ready = next->event.restart();
            release_memory(m_replicas[replica], next->event);
            give(ready, next);
        }
    }

    const std::vector<Replica>& m_replicas;
    const Graph& m_graph; ///< of the first replica; all have the same vertices and edges
    RunState& m_state;
    const int m_operation_threads;
    ReplicaQueues m_queues;
    std::vector<Activity> m_activity;
    /// Raised when a call ended and read after the wait for all calls, as InFlight::passed_on.
    std::atomic<std::uint64_t> m_ended_calls{0};
    flow::graph m_flow;
    std::vector<std::unique_ptr<Body>> m_bodies;
    std::vector<std::unique_ptr<Turns>> m_turns; ///< by vertex; null for nodes that are not shared
};

} // namespace

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
    arena.execute([&] { Flow(replicas, state, events_in_flight, threads.operation).run(); });
}

} // namespace spng
