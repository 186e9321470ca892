// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/event_run.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/device/lost_device.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/graph/node_mixins.h"
#include "spng/instrument/clock.h"

#include <algorithm>
#include <utility>

namespace spng {

void RunState::failed(std::uint64_t event, const Error& error) {
    const std::lock_guard lock(m_mutex);
    m_errors.emplace(event, error);
    if (!m_options.skip_failed) {
        m_first_failed = std::min(m_first_failed.load(), event);
    }
}

void RunState::lost_device(std::uint64_t event, const Error& error, bool was_last) {
    const std::lock_guard lock(m_mutex);
    m_errors.emplace(event, error);
    if (was_last || !m_options.skip_failed) {
        m_first_failed = std::min(m_first_failed.load(), event);
    }
    if (was_last && !m_device_error) {
        m_device_error = error;
    }
}

RunSummary RunState::finish() const {
    const std::lock_guard lock(m_mutex);
    if (!m_options.skip_failed && !m_errors.empty()) {
        throw m_errors.begin()->second;
    }
    RunSummary summary{m_done, {}, stop_signal(), m_device_error};
    for (const auto& [event, error] : m_errors) {
        summary.skipped.push_back({event, error.what()});
    }
    return summary;
}

bool is_at_end(const Graph& graph) {
    return std::any_of(graph.vertices().begin(), graph.vertices().end(), [](const auto& vertex) {
        const auto* source = dynamic_cast<const EndAwareSource*>(vertex.node);
        return source != nullptr && source->at_end();
    });
}

std::size_t first_that_waits(const Graph& graph) {
    const auto& vertices = graph.vertices();
    const auto found = std::find_if(vertices.begin(), vertices.end(), [&](const auto& vertex) {
        return std::any_of(vertex.input_edges.begin(), vertex.input_edges.end(), [&](std::size_t edge) {
            const auto* feeding = vertices[graph.edges()[edge].tail.node].node;
            return dynamic_cast<const AsynchronousOutput*>(feeding) != nullptr;
        });
    });
    return static_cast<std::size_t>(found - vertices.begin());
}

EventRun::EventRun(const Replica& replica, RunState& state, std::uint64_t index)
    : m_replica(replica), m_state(state), m_index(index), m_stream(std::in_place, replica.device),
      m_states(replica.graph->vertices().size(), State::waiting), m_kept(replica.graph->vertices().size()),
      m_on_edge(replica.graph->edges().size()), m_arriving(replica.graph->edges().size()),
      m_put_at(instrument::recording::recorder() != nullptr ? replica.graph->edges().size() : 0),
      m_left(replica.graph->vertices().size()), m_in_window(std::in_place, index) {
    for (const auto& vertex : replica.graph->vertices()) {
        m_shared.push_back(is_shared(*vertex.node));
        m_waits_for.push_back(vertex.input_edges.size());
    }
    const instrument::recording::EventOnThread on_thread(index);
    m_in_flight.emplace(index);
}

Progress EventRun::call(std::size_t vertex_index) {
    const instrument::recording::EventOnThread on_thread(m_index);
    std::optional<Ports> inputs = take_inputs(vertex_index);
    const bool can_restart = !is_shared_node(vertex_index);
    if (!inputs) {
        NVTX_SCHEDULING_MARK("EventRun::left_out");
        return book(vertex_index, {}, false);
    }
    const auto& vertex = m_replica.graph->vertices()[vertex_index];
    // All exceptions go to handle(): an exception in a thread of an engine would end the run.
    std::optional<Ports> outputs;
    try {
        const EventStream::Guard on_stream(*m_stream); // throws if the device is lost
        outputs = call_node(vertex, std::move(*inputs));
    } catch (const Error& error) {
        handle(error, can_restart);
    } catch (...) {
        try {
            rethrow_readable(vertex.node->name().text() + ", event " + std::to_string(m_index));
        } catch (const Error& error) {
            handle(error, can_restart);
        }
    }
    return outputs ? book(vertex_index, std::move(*outputs), true) : book(vertex_index, {}, false);
}

std::optional<Ports> EventRun::take_inputs(std::size_t vertex_index) {
    NVTX_SCHEDULING_RANGE("EventRun::take_inputs", m_index);
    const std::lock_guard lock(m_mutex);
    if (m_alive && m_state.abandoned(m_index)) {
        m_alive = false;
    }
    if (!m_alive || (m_stalled != Stall::none && !is_shared_node(vertex_index))) {
        return std::nullopt;
    }
    Ports inputs;
    for (const std::size_t edge : m_replica.graph->vertices()[vertex_index].input_edges) {
        inputs.push_back(std::move(m_on_edge[edge]));
        if (!m_put_at.empty()) {
            instrument::recording::message(static_cast<std::int64_t>(edge), m_index, m_put_at[edge],
                                           instrument::wall_nanoseconds());
        }
    }
    return inputs;
}

Ports EventRun::call_node(const Graph::Vertex& vertex, Ports inputs) {
    wait_for_inputs(vertex);
    Ports outputs = vertex.node->call(m_index, inputs, m_state.options().meter_mode);
    if (outputs.size() < vertex.output_edges.size()) {
        throw Error(ErrorKind::Internal, {.what = "a node returned fewer outputs than it has ports",
                                          .where = vertex.node->name().text(),
                                          .seen = std::to_string(outputs.size()),
                                          .expected = std::to_string(vertex.output_edges.size())});
    }
    if (dynamic_cast<const AsynchronousOutput*>(vertex.node) != nullptr) {
        const auto arrival = m_stream->mark();
        const std::lock_guard lock(m_mutex);
        for (const std::size_t edge : vertex.output_edges) {
            m_arriving[edge] = arrival;
        }
    }
    return outputs;
}

void EventRun::wait_for_inputs(const Graph::Vertex& vertex) {
    for (const std::size_t edge : vertex.input_edges) {
        std::shared_ptr<const c10::Event> arriving;
        {
            const std::lock_guard lock(m_mutex);
            std::swap(arriving, m_arriving[edge]);
        }
        if (arriving) {
            NVTX_SCHEDULING_RANGE("EventRun::wait_for_copy", m_index);
            arriving->synchronize();
        }
    }
}

void EventRun::handle(const Error& error, bool can_restart) {
    // Errors of files and of the configuration need no check of the device, which would wait for it.
    const bool is_about_files = error.kind() == ErrorKind::Input || error.kind() == ErrorKind::Output ||
                                error.kind() == ErrorKind::Configuration;
    const auto lost = is_about_files ? std::nullopt : lost_device_error(m_replica.device, error);
    const Stall stall = lost                                                  ? Stall::device
                        : dynamic_cast<const OutOfMemory*>(&error) != nullptr ? Stall::memory
                                                                              : Stall::none;
    if (stall != Stall::none && can_restart) {
        const std::lock_guard lock(m_mutex);
        if (m_stalled != Stall::device) { // another call of the event may have found the loss before
            m_stalled = stall;
            m_reason = lost ? *lost : error;
        }
        return;
    }
    m_alive = false;
    if (lost) {
        const std::lock_guard lock(m_mutex);
        m_reason = *lost;
        m_lost_in_order = true;
    } else {
        m_state.failed(m_index, error);
    }
}

Progress EventRun::book(std::size_t vertex_index, Ports outputs, bool was_called) {
    NVTX_SCHEDULING_RANGE("EventRun::put_outputs", m_index);
    const auto& vertex = m_replica.graph->vertices()[vertex_index];
    Progress progress;
    const std::lock_guard lock(m_mutex);
    const bool shared = is_shared_node(vertex_index);
    if (was_called && vertex.input_edges.empty() &&
        std::find(outputs.begin(), outputs.end(), nullptr) != outputs.end()) {
        progress.stream_ended = true;
        return progress;
    }
    if (m_stalled == Stall::none || shared) {
        m_states[vertex_index] = State::called;
        --m_left;
        if (shared) {
            m_kept[vertex_index] = outputs;
        }
        for (std::size_t port = 0; port < vertex.output_edges.size() && m_stalled == Stall::none; ++port) {
            put(vertex.output_edges[port], was_called ? std::move(outputs.at(port)) : nullptr,
                progress.ready);
        }
    }
    if (!shared) {
        --m_under_way;
        progress.stalled = m_under_way == 0 ? m_stalled : Stall::none;
    }
    progress.lost = std::exchange(m_lost_in_order, false);
    progress.complete = m_left == 0;
    return progress;
}

void EventRun::put(std::size_t edge, TensorSetPtr set, std::vector<std::size_t>& ready) {
    const std::size_t head = m_replica.graph->edges()[edge].head.node;
    if (m_states[head] != State::waiting) {
        return; // a shared node that got the set before the restart
    }
    m_on_edge[edge] = std::move(set);
    if (!m_put_at.empty()) {
        m_put_at[edge] = instrument::wall_nanoseconds();
    }
    if (--m_waits_for[head] == 0) {
        m_states[head] = State::given;
        m_under_way += is_shared_node(head) ? 0 : 1;
        ready.push_back(head);
    }
}

std::vector<std::size_t> EventRun::restart() {
    const std::lock_guard lock(m_mutex);
    const auto& vertices = m_replica.graph->vertices();
    m_stalled = Stall::none;
    ++m_restarts;
    m_left = 0;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
        if (!is_shared_node(i) || m_states[i] == State::waiting) {
            m_states[i] = State::waiting;
            m_waits_for[i] = vertices[i].input_edges.size();
            for (const std::size_t edge : vertices[i].input_edges) {
                m_on_edge[edge].reset();
                m_arriving[edge].reset();
            }
        }
        m_left += m_states[i] == State::called ? 0 : 1;
    }
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
        for (std::size_t port = 0; m_states[i] == State::called && port < vertices[i].output_edges.size();
             ++port) {
            put(vertices[i].output_edges[port], m_kept[i].empty() ? nullptr : m_kept[i].at(port), ready);
        }
    }
    return ready;
}

std::vector<std::size_t> EventRun::restart_on(const Replica& replica) {
    {
        const std::lock_guard lock(m_mutex);
        m_replica = replica;
        m_stream.emplace(replica.device);
    }
    return restart();
}

bool EventRun::can_move() const {
    const std::lock_guard lock(m_mutex);
    const auto is_on_host = [](const TensorSetPtr& set) {
        return set == nullptr ||
               std::all_of(set->tensors().begin(), set->tensors().end(),
                           [](const NamedTensor& tensor) { return tensor.data.device().is_cpu(); });
    };
    for (std::size_t i = 0; i < m_states.size(); ++i) {
        if (is_shared_node(i) && m_states[i] == State::given) {
            return false;
        }
    }
    return std::all_of(m_kept.begin(), m_kept.end(), [&](const Ports& ports) {
        return std::all_of(ports.begin(), ports.end(), is_on_host);
    });
}

void EventRun::give_up(const std::string& note) {
    ErrorText text = m_reason->text();
    text.expected += note;
    m_alive = false;
    m_state.failed(m_index, Error(m_reason->kind(), text));
}

void EventRun::give_up_device(bool was_last) {
    m_alive = false;
    m_state.lost_device(m_index, *m_reason, was_last);
}

void EventRun::complete() {
    m_in_flight.reset();
    m_in_window.reset();
    if (m_alive) {
        m_state.completed();
        log::info("graph", [&] { return "event " + std::to_string(m_index) + " done"; });
    }
    // Free the stream before the next event starts, which otherwise takes a new one with new memory.
    m_stream.reset();
}

} // namespace spng
