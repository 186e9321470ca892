// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/engine.h"

#include "spng/core/log/log.h"
#include "spng/engine/second_try.h"

#include <memory>
#include <set>

namespace spng {
namespace {

class Serial {
public:
    Serial(const std::vector<Replica>& replicas, RunState& state, int events_in_flight)
        : m_replicas(replicas), m_state(state), m_queues(replicas.size(), events_in_flight),
          m_all(replicas.front().graph->vertices().size()),
          m_issued(replicas.front().device.is_cpu() ? m_all : first_that_waits(*replicas.front().graph)),
          m_is_alone(events_in_flight < 2) {}

    void run() {
        std::unique_ptr<InFlight> waiting;
        for (std::uint64_t index = 0; !m_state.ending() && !is_at_end(*m_replicas.front().graph); ++index) {
            if (waiting && must_wait(*m_replicas.front().graph)) {
                finish(*waiting);
                waiting.reset();
            }
            const auto replica = m_queues.take();
            if (!replica) {
                break;
            }
            auto in_flight = std::make_unique<InFlight>(m_replicas, m_state, index, *replica);
            // On a device, calls return before their work is done. The vertices that wait for it, such as the
            // sink, are called after the work of the next event is queued, so that the device is never idle.
            // If memory suffices for one event only, or ran out once, each event is finished first.
            if (!call(*in_flight, m_issued)) {
                break;
            }
            if (waiting) {
                finish(*waiting);
            }
            waiting = std::move(in_flight);
            if (m_issued == m_all || m_is_alone) {
                finish(*waiting);
                waiting.reset();
            }
        }
        if (waiting) {
            finish(*waiting);
        }
    }

private:
    struct InFlight {
        InFlight(const std::vector<Replica>& replicas, RunState& state, std::uint64_t index,
                 std::size_t the_replica)
            : event(replicas[the_replica], state, index), replica(the_replica) {
            const auto& vertices = replicas[the_replica].graph->vertices();
            for (std::size_t vertex = 0; vertex < vertices.size(); ++vertex) {
                if (vertices[vertex].input_edges.empty()) {
                    ready.insert(vertex);
                }
            }
        }
        EventRun event;
        std::size_t replica;
        std::set<std::size_t> ready; ///< in topological order
    };

    void finish(InFlight& in_flight) {
        call(in_flight, m_all);
        in_flight.event.complete();
        m_queues.give_back(in_flight.replica);
    }

    /// Call the vertices before `end`.
    /// @return false at the end of the stream
    bool call(InFlight& in_flight, std::size_t end) {
        while (!in_flight.ready.empty() && *in_flight.ready.begin() < end) {
            const std::size_t vertex = *in_flight.ready.begin();
            in_flight.ready.erase(in_flight.ready.begin());
            const Progress progress = in_flight.event.call(vertex);
            if (progress.stream_ended) {
                return false;
            }
            in_flight.ready.insert(progress.ready.begin(), progress.ready.end());
            if (progress.deferred == Stall::device) { // no other call is running
                recover(in_flight, Stall::device);
            } else if (progress.stalled != Stall::none) {
                recover(in_flight, progress.stalled);
            }
            if (progress.lost) {
                lose_replica(in_flight.event, in_flight.replica, m_queues);
            }
        }
        return true;
    }

    void recover(InFlight& in_flight, Stall stalled) {
        const SecondTry next =
            second_try(in_flight.event, stalled, in_flight.replica, m_replicas, m_queues, m_state);
        in_flight.replica = next.replica;
        if (stalled == Stall::device) {
            in_flight.ready.clear();
        }
        m_is_alone |= stalled == Stall::memory;
        const auto ready = next.action == RecoveryAction::elsewhere
                               ? in_flight.event.restart_on(m_replicas[next.replica])
                               : in_flight.event.restart();
        if (next.action == RecoveryAction::alone) {
            release_memory(m_replicas[next.replica], in_flight.event);
        }
        in_flight.ready.insert(ready.begin(), ready.end());
    }

    const std::vector<Replica>& m_replicas;
    RunState& m_state;
    ReplicaQueues m_queues;
    const std::size_t m_all, m_issued;
    bool m_is_alone; ///< finish each event before the next one starts
};

} // namespace

void run_pgrapher(const std::vector<Replica>& replicas, RunState& state, int events_in_flight) {
    if (replicas.size() > 1) {
        log::warn("Pgrapher", "works on one event at a time, so the other devices of the job are idle "
                              "meanwhile; TbbFlow uses all of them");
    }
    Serial(replicas, state, events_in_flight).run();
}

} // namespace spng
