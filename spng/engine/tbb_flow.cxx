#include "spng/engine/engine.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/device/memory/device_memory.h"
#include "spng/engine/second_try.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

namespace spng {
namespace {

namespace flow = oneapi::tbb::flow;

struct InFlight {
    InFlight(const Replica& the_replica, RunState& state, std::uint64_t index, std::size_t number)
        : event(the_replica, state, index), replica(number) {}
    EventRun event;
    std::size_t replica;
    /// After it ran out of memory twice its nodes are called one after the other.
    std::atomic<bool> one_by_one{false};
    std::mutex mutex; ///< for what follows
    bool is_busy = false;
    std::set<std::size_t> put_off;
};
using InFlightPtr = std::shared_ptr<InFlight>;

/// What is under way on one replica, and the events that wait until nothing is.
class Activity {
public:
    void begins() {
        const std::lock_guard lock(m_mutex);
        ++m_calls;
    }
    /// @return an event that is to begin again now: the earliest of those that wait for quiet
    InFlightPtr ends() {
        const std::lock_guard lock(m_mutex);
        if (--m_calls > 0 || m_waiting.empty()) {
            return nullptr;
        }
        return m_waiting.extract(m_waiting.begin()).mapped();
    }
    /// To be called from within a call of the replica, so that its end sees it.
    void wait_for_quiet(const InFlightPtr& in_flight) {
        const std::lock_guard lock(m_mutex);
        m_waiting.emplace(in_flight->event.index(), in_flight);
    }

private:
    std::mutex m_mutex;
    int m_calls = 0; ///< of nodes that each replica has of its own, given to oneTBB and not come back
    std::map<std::uint64_t, InFlightPtr> m_waiting;
};

class Flow {
public:
    Flow(const std::vector<Replica>& replicas, RunState& state, int events_in_flight)
        : m_replicas(replicas), m_graph(*replicas.front().graph), m_state(state),
          m_queues(replicas.size(), events_in_flight), m_activity(replicas.size()) {
        for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
            const bool once = is_shared(*m_graph.vertices()[i].node);
            m_bodies.push_back(std::make_unique<Body>(m_flow, once ? flow::serial : flow::unlimited,
                                                      [this, i](const InFlightPtr& in_flight) {
                                                          call(i, in_flight);
                                                          return flow::continue_msg{};
                                                      }));
            // A node that exists once sees the events in the order of the input, which makes output files
            // independent of timing.
            m_in_order.push_back(
                once ? std::make_unique<Sequencer>(
                           m_flow, [](const InFlightPtr& in_flight) { return in_flight->event.index(); })
                     : nullptr);
            if (once) {
                flow::make_edge(*m_in_order[i], *m_bodies[i]);
            }
        }
    }

    void run() {
        try {
            feed();
        } catch (...) {
            m_flow.wait_for_all(); // events in flight use what this object owns
            throw;
        }
        m_flow.wait_for_all();
    }

private:
    using Body = flow::function_node<InFlightPtr, flow::continue_msg>;
    using Sequencer = flow::sequencer_node<InFlightPtr>;

    void feed() {
        for (std::uint64_t index = 0;; ++index) {
            const auto replica = wait_for_place(index);
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

    /// Until a replica works on fewer events than it may.
    std::optional<std::size_t> wait_for_place([[maybe_unused]] std::uint64_t next_event) {
        NVTX_SCHEDULING_RANGE("TbbFlow::wait_for_slot", next_event);
        return m_queues.take();
    }

    bool call_sources(InFlight& in_flight, std::vector<std::size_t>& ready) {
        EventRun& event = in_flight.event;
        NVTX_SCHEDULING_RANGE("TbbFlow::feed", event.index());
        for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
            if (m_graph.vertices()[i].input_edges.empty()) {
                const Progress progress = event.call(i);
                if (progress.stream_ended) {
                    return false;
                }
                if (progress.lost) {
                    lose_replica(event, in_flight.replica, m_queues);
                }
                ready.insert(ready.end(), progress.ready.begin(), progress.ready.end());
            }
        }
        return true;
    }

    void call(std::size_t vertex, const InFlightPtr& in_flight) {
        const std::size_t replica = in_flight->replica;
        const bool once = m_in_order[vertex] != nullptr;
        const Progress progress = in_flight->event.call(vertex);
        {
            NVTX_SCHEDULING_RANGE("TbbFlow::hand_over", in_flight->event.index());
            give(progress.ready, in_flight);
        }
        if (in_flight->one_by_one && !once) {
            give_next(in_flight);
        }
        if (progress.stalled != Stall::none) {
            begin_again(in_flight, progress.stalled);
        }
        if (progress.lost) {
            lose_replica(in_flight->event, replica, m_queues);
        }
        if (progress.complete) {
            in_flight->event.complete();
            m_queues.give_back(in_flight->replica);
        }
        if (!once) {
            call_ended(replica);
        }
    }

    /// To oneTBB; an event that failed goes all the way too, so that sequencers see no gap.
    void give(const std::vector<std::size_t>& ready, const InFlightPtr& in_flight) {
        for (const std::size_t vertex : ready) {
            if (m_in_order[vertex]) {
                m_in_order[vertex]->try_put(in_flight);
            } else if (in_flight->one_by_one) {
                const std::lock_guard lock(in_flight->mutex);
                in_flight->put_off.insert(vertex);
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
        m_bodies[vertex]->try_put(in_flight);
    }

    /// One of the nodes that were put off, when none is busy.
    void give_first(const InFlightPtr& in_flight) {
        std::optional<std::size_t> vertex;
        {
            const std::lock_guard lock(in_flight->mutex);
            if (!in_flight->is_busy && !in_flight->put_off.empty()) {
                vertex = *in_flight->put_off.begin();
                in_flight->put_off.erase(in_flight->put_off.begin());
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

    void begin_again(const InFlightPtr& in_flight, Stall stalled) {
        EventRun& event = in_flight->event;
        const std::size_t replica = in_flight->replica;
        const SecondTry next = second_try(event, stalled, replica, m_replicas, m_queues, m_state);
        switch (next.what) {
        case SecondTry::What::alone:
            m_activity[replica].wait_for_quiet(in_flight);
            break;
        case SecondTry::What::elsewhere:
            in_flight->replica = next.replica;
            give(event.restart_on(m_replicas[next.replica]), in_flight);
            break;
        case SecondTry::What::give_up:
            give(event.restart(), in_flight);
            break;
        }
    }

    void call_ended(std::size_t replica) {
        if (const InFlightPtr next = m_activity[replica].ends()) {
            release_cached_memory(m_replicas[replica].device);
            next->one_by_one = next->event.restarts() > 0;
            give(next->event.restart(), next);
        }
    }

    const std::vector<Replica>& m_replicas;
    const Graph& m_graph; ///< of the first replica: vertices and edges are those of all
    RunState& m_state;
    ReplicaQueues m_queues;
    std::vector<Activity> m_activity;
    flow::graph m_flow;
    std::vector<std::unique_ptr<Body>> m_bodies;
    std::vector<std::unique_ptr<Sequencer>> m_in_order;
};

} // namespace

void run_tbb_flow(const std::vector<Replica>& replicas, RunState& state, int threads, int events_in_flight) {
    // The caller's thread feeds events and waits, so the workers get all the slots.
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(threads) + 1);
    oneapi::tbb::task_arena arena(threads + 1, 1);
    arena.execute([&] { Flow(replicas, state, events_in_flight).run(); });
}

} // namespace spng
