#include "spng/graph/event_run.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log.h"
#include "spng/graph/source.h"
#include "spng/instrument/clock.h"

#include <algorithm>

namespace spng {

void RunState::failed(std::uint64_t event, const Error& error) {
    const std::lock_guard lock(m_mutex);
    m_errors.emplace(event, error);
    if (!m_options.skip_failed) {
        m_first_failed = std::min(m_first_failed.load(), event);
    }
}

RunSummary RunState::finish() const {
    const std::lock_guard lock(m_mutex);
    if (!m_options.skip_failed && !m_errors.empty()) {
        throw m_errors.begin()->second;
    }
    RunSummary summary{m_done, {}, stop_signal()};
    for (const auto& [event, error] : m_errors) {
        summary.skipped.push_back({event, error.what()});
    }
    return summary;
}

bool is_at_end(const Graph& graph) {
    return std::any_of(graph.vertices().begin(), graph.vertices().end(), [](const auto& vertex) {
        const auto* source = dynamic_cast<const KnowsItsEnd*>(vertex.node);
        return source != nullptr && source->at_end();
    });
}

EventRun::EventRun(const Graph& graph, RunState& state, std::uint64_t index)
    : m_graph(graph), m_state(state), m_index(index), m_stream(state.device()),
      m_on_edge(graph.edges().size()),
      m_put_at(instrument::recording::recorder() != nullptr ? graph.edges().size() : 0),
      m_in_window(std::in_place, index) {
    const instrument::recording::EventOnThread on_thread(index);
    m_in_flight.emplace(index);
}

bool EventRun::run_vertex(std::size_t number) {
    if (!m_alive || m_state.abandoned(m_index)) {
        m_alive = false;
        NVTX_SCHEDULING_MARK("EventRun::left_out");
        return true;
    }
    const instrument::recording::EventOnThread on_thread(m_index);
    const EventStream::Guard on_stream(m_stream);
    const auto& vertex = m_graph.vertices()[number];
    Ports inputs;
    {
        NVTX_SCHEDULING_RANGE("EventRun::take_inputs", m_index);
        for (const std::size_t edge : vertex.input_edges) {
            inputs.push_back(std::move(m_on_edge[edge]));
            if (!m_put_at.empty()) {
                instrument::recording::message(static_cast<std::int64_t>(edge), m_index, m_put_at[edge],
                                               instrument::wall_nanoseconds());
            }
        }
    }
    Ports outputs;
    try {
        outputs = vertex.node->call(m_index, inputs, m_state.options().meter_mode);
    } catch (const Error& error) {
        m_alive = false;
        m_state.failed(m_index, error);
        return true;
    }
    NVTX_SCHEDULING_RANGE("EventRun::put_outputs", m_index);
    for (std::size_t port = 0; port < vertex.output_edges.size(); ++port) {
        if (outputs.at(port) == nullptr) {
            return false;
        }
        const std::size_t edge = vertex.output_edges[port];
        m_on_edge[edge] = std::move(outputs[port]);
        if (!m_put_at.empty()) {
            m_put_at[edge] = instrument::wall_nanoseconds();
        }
    }
    return true;
}

void EventRun::complete() {
    m_in_flight.reset();
    m_in_window.reset();
    if (m_alive) {
        m_state.completed();
        log::info("graph", [&] { return "event " + std::to_string(m_index) + " done"; });
    }
}

} // namespace spng
