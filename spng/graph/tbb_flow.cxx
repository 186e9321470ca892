#include "spng/graph/engine.h"

#include "WireCellSpng/TorchnvTools.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <memory>
#include <semaphore>

namespace spng {
namespace {

namespace flow = oneapi::tbb::flow;

/// An event and, per vertex, how many of its inputs have not arrived yet.
struct InFlight {
    InFlight(const Graph& graph, RunState& state, std::uint64_t index)
        : event(graph, state, index), waiting_for(graph.vertices().size()),
          vertices_left(graph.vertices().size()) {
        for (std::size_t i = 0; i < waiting_for.size(); ++i) {
            waiting_for[i] = graph.vertices()[i].input_edges.size();
        }
    }
    EventRun event;
    std::vector<std::atomic<std::size_t>> waiting_for;
    std::atomic<std::size_t> vertices_left;
};
using InFlightPtr = std::shared_ptr<InFlight>;

class Flow {
public:
    Flow(const Graph& graph, RunState& state, int events_in_flight)
        : m_graph(graph), m_state(state), m_free(events_in_flight) {
        for (std::size_t i = 0; i < graph.vertices().size(); ++i) {
            const bool serial = graph.vertices()[i].node->registered().concurrency == Concurrency::serial;
            m_bodies.push_back(std::make_unique<Body>(m_flow, serial ? flow::serial : flow::unlimited,
                                                      [this, i](const InFlightPtr& in_flight) {
                                                          in_flight->event.run_vertex(i);
                                                          after(i, in_flight);
                                                          return flow::continue_msg{};
                                                      }));
            // A serial node sees the events in the order of the input, which makes output files independent
            // of timing.
            m_in_order.push_back(
                serial ? std::make_unique<Sequencer>(
                             m_flow, [](const InFlightPtr& in_flight) { return in_flight->event.index(); })
                       : nullptr);
            if (serial) {
                flow::make_edge(*m_in_order[i], *m_bodies[i]);
            }
        }
    }

    void run() {
        for (std::uint64_t index = 0;; ++index) {
            wait_for_slot(index);
            if (m_state.ending() || is_at_end(m_graph)) {
                break;
            }
            auto in_flight = std::make_shared<InFlight>(m_graph, m_state, index);
            if (!run_sources(in_flight->event)) {
                break;
            }
            for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
                if (m_graph.vertices()[i].input_edges.empty()) {
                    after(i, in_flight);
                }
            }
        }
        m_flow.wait_for_all();
    }

private:
    using Body = flow::function_node<InFlightPtr, flow::continue_msg>;
    using Sequencer = flow::sequencer_node<InFlightPtr>;

    /// Until fewer events are in flight than may be.
    void wait_for_slot([[maybe_unused]] std::uint64_t next_event) {
        NVTX_SCHEDULING_RANGE("TbbFlow::wait_for_slot", next_event);
        m_free.acquire();
    }

    bool run_sources(EventRun& event) {
        NVTX_SCHEDULING_RANGE("TbbFlow::feed", event.index());
        for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
            if (m_graph.vertices()[i].input_edges.empty() && !event.run_vertex(i)) {
                return false;
            }
        }
        return true;
    }

    /// Tell the vertices behind `vertex` that one more input is there; an event that failed goes all the way
    /// too, so that sequencers see no gap.
    void after(std::size_t vertex, const InFlightPtr& in_flight) {
        NVTX_SCHEDULING_RANGE("TbbFlow::hand_over", in_flight->event.index());
        for (const std::size_t edge : m_graph.vertices()[vertex].output_edges) {
            const std::size_t fed = m_graph.edges()[edge].head.node;
            if (--in_flight->waiting_for[fed] == 0) {
                if (m_in_order[fed]) {
                    m_in_order[fed]->try_put(in_flight);
                } else {
                    m_bodies[fed]->try_put(in_flight);
                }
            }
        }
        if (--in_flight->vertices_left == 0) {
            in_flight->event.complete();
            m_free.release();
        }
    }

    const Graph& m_graph;
    RunState& m_state;
    std::counting_semaphore<> m_free;
    flow::graph m_flow;
    std::vector<std::unique_ptr<Body>> m_bodies;
    std::vector<std::unique_ptr<Sequencer>> m_in_order;
};

} // namespace

void run_tbb_flow(const Graph& graph, RunState& state, int threads, int events_in_flight) {
    // The caller's thread feeds events and waits, so the workers get all the slots.
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(threads) + 1);
    oneapi::tbb::task_arena arena(threads + 1, 1);
    arena.execute([&] { Flow(graph, state, events_in_flight).run(); });
}

} // namespace spng
