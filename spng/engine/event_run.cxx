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

void RunState::keep(std::uint64_t event, const Error& error, bool ends_run) {
    if (m_options.counts != nullptr) {
        ++m_options.counts->failed;
    }
    {
        const std::lock_guard lock(m_mutex);
        if (ends_run) {
            m_first_failed = std::min(m_first_failed.load(), event);
        }
        if (!m_options.on_failed) {
            m_errors.emplace(event, error);
            return;
        }
    }
    m_options.on_failed(event, error);
}

void RunState::failed(std::uint64_t event, const Error& error) {
    keep(event, error, !m_options.skip_failed);
}

void RunState::lost_device(std::uint64_t event, const Error& error, bool was_last) {
    keep(event, error, was_last || !m_options.skip_failed);
    const std::lock_guard lock(m_mutex);
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

bool must_wait(const Graph& graph) {
    return std::any_of(graph.vertices().begin(), graph.vertices().end(), [](const auto& vertex) {
        const auto* source = dynamic_cast<const WaitingSource*>(vertex.node);
        return source != nullptr && source->must_wait();
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
    : m_replica(replica), m_state(state), m_index(index),
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
    DeviceWarnings::include_this_thread();
    std::optional<Ports> inputs = take_inputs(vertex_index);
    if (!inputs) {
        NVTX_SCHEDULING_MARK("EventRun::left_out");
        return book(vertex_index, {}, Outcome::left_out);
    }
    const auto& vertex = m_replica.graph->vertices()[vertex_index];
    // All exceptions go to handle(): an exception in a thread of an engine would end the run.
    Ports outputs;
    Outcome outcome = Outcome::returned;
    bool was_entered = false;
    try {
        const EventStream::Guard on_stream(stream()); // throws if the device is lost, as do the other three
        wait_for_inputs(vertex);
        complete_inputs(vertex, *inputs);
        was_entered = true;
        outputs = call_node(vertex, *inputs);
    } catch (const Error& error) {
        outcome = handle(error, vertex_index, was_entered);
    } catch (...) {
        try {
            rethrow_readable(vertex.node->name().text() + ", event " + std::to_string(m_index));
        } catch (const Error& error) {
            outcome = handle(error, vertex_index, was_entered);
        }
    }
    inputs.reset(); // frees their memory before the outputs are put on the edges
    return book(vertex_index, std::move(outputs), outcome);
}

const EventStream& EventRun::stream() {
    const std::lock_guard lock(m_mutex);
    if (!m_stream) {
        m_stream.emplace(m_replica.device);
    }
    return *m_stream;
}

std::optional<Ports> EventRun::take_inputs(std::size_t vertex_index) {
    NVTX_SCHEDULING_RANGE("EventRun::take_inputs", m_index);
    const std::lock_guard lock(m_mutex);
    if (m_alive && m_state.abandoned(m_index)) {
        m_alive = false;
    }
    // Shared nodes continue during a shortage of memory: their inputs exist, and they are not called again.
    if (!m_alive || m_stalled == Stall::device ||
        (m_stalled == Stall::memory && !is_shared_node(vertex_index))) {
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

Ports EventRun::call_node(const Graph::Vertex& vertex, const Ports& inputs) {
    Ports outputs = vertex.node->call(m_index, inputs, m_state.options().meter_mode);
    if (outputs.size() < vertex.output_edges.size()) {
        throw Error(ErrorKind::Internal, {.what = "a node returned fewer outputs than it has ports",
                                          .where = vertex.node->name().text(),
                                          .seen = std::to_string(outputs.size()),
                                          .expected = std::to_string(vertex.output_edges.size())});
    }
    if (dynamic_cast<const AsynchronousOutput*>(vertex.node) != nullptr) {
        const auto arrival = stream().mark();
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

void EventRun::complete_inputs(const Graph::Vertex& vertex, Ports& inputs) const {
    for (std::size_t port = 0; port < inputs.size(); ++port) {
        const auto& tail = m_replica.graph->edges()[vertex.input_edges[port]].tail;
        const Node& feeding = *m_replica.graph->vertices()[tail.node].node;
        if (const auto* asynchronous = dynamic_cast<const AsynchronousOutput*>(&feeding)) {
            try {
                inputs[port] = asynchronous->arrived(inputs[port], tail.port);
            } catch (const Error& error) {
                if (error.kind() == ErrorKind::Input) {
                    throw; // late findings, which name the node that checked the input
                }
                rethrow_readable(feeding.name().text() + ", event " + std::to_string(m_index));
            } catch (...) {
                rethrow_readable(feeding.name().text() + ", event " + std::to_string(m_index));
            }
        }
    }
}

EventRun::Outcome EventRun::handle(const Error& error, std::size_t vertex_index, bool was_entered) {
    // Errors of files and of the configuration need no check of the device, which would wait for it.
    const bool is_about_files = error.kind() == ErrorKind::Input || error.kind() == ErrorKind::Output ||
                                error.kind() == ErrorKind::Configuration;
    const auto lost = is_about_files ? std::nullopt : lost_device_error(m_replica.device, error);
    const Stall stall = lost                                                  ? Stall::device
                        : dynamic_cast<const OutOfMemory*>(&error) != nullptr ? Stall::memory
                                                                              : Stall::none;
    const bool shared = is_shared_node(vertex_index);
    // A shortage before a source is called is not due to this event, which has no memory to return yet.
    const bool is_deferrable =
        stall == Stall::device || !m_replica.graph->vertices()[vertex_index].input_edges.empty();
    const std::lock_guard lock(m_mutex);
    if (stall != Stall::none && (!shared || (is_deferrable && !was_entered))) {
        // Another call of the event may have found the loss before. A restart that is due finds it again.
        if (m_stalled != Stall::device && !m_restarts_soon) {
            m_stalled = stall;
            m_reason = lost ? *lost : error;
        }
        return shared ? Outcome::not_called : Outcome::left_out;
    }
    m_alive = false;
    if (lost) {
        m_reason = *lost;
        m_lost_in_order = true;
    } else {
        m_state.failed(m_index, error);
    }
    return Outcome::left_out;
}

Progress EventRun::book(std::size_t vertex_index, Ports outputs, Outcome outcome) {
    NVTX_SCHEDULING_RANGE("EventRun::put_outputs", m_index);
    const auto& vertex = m_replica.graph->vertices()[vertex_index];
    Progress progress;
    const std::lock_guard lock(m_mutex);
    if (outcome == Outcome::returned && vertex.input_edges.empty() &&
        std::find(outputs.begin(), outputs.end(), nullptr) != outputs.end()) {
        progress.stream_ended = true;
        return progress;
    }
    const bool shared = is_shared_node(vertex_index);
    const bool was_left_out = outcome == Outcome::left_out && m_alive && m_stalled == Stall::device;
    if (outcome == Outcome::not_called && m_stalled == Stall::none && m_alive) {
        m_stalled = Stall::memory; // a restart meanwhile, after another call, left this one as it was
    }
    if (shared && m_stalled != Stall::none && (outcome == Outcome::not_called || was_left_out)) {
        progress.deferred = m_stalled;
        m_states[vertex_index] = State::waiting;
    } else if (m_stalled == Stall::none || shared) {
        finish_call(vertex_index, std::move(outputs), outcome, progress);
    }
    if (!shared) {
        --m_under_way;
    } else if (!vertex.input_edges.empty()) {
        --m_shared_under_way;
    }
    const bool can_restart = m_under_way == 0 && (m_stalled == Stall::memory || m_shared_under_way == 0);
    if (m_stalled != Stall::none && can_restart && !m_restarts_soon) {
        m_restarts_soon = true;
        progress.stalled = m_stalled;
    }
    progress.lost = std::exchange(m_lost_in_order, false);
    progress.complete = m_left == 0;
    return progress;
}

void EventRun::finish_call(std::size_t vertex_index, Ports outputs, Outcome outcome, Progress& progress) {
    const auto& vertex = m_replica.graph->vertices()[vertex_index];
    const bool has_outputs = outcome == Outcome::returned;
    m_states[vertex_index] = State::called;
    --m_left;
    if (is_shared_node(vertex_index)) {
        m_kept[vertex_index] = outputs;
    }
    for (std::size_t port = 0; port < vertex.output_edges.size() && m_stalled == Stall::none; ++port) {
        put(vertex.output_edges[port], has_outputs ? std::move(outputs.at(port)) : nullptr, progress.ready);
    }
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
        ++(is_shared_node(head) ? m_shared_under_way : m_under_way);
        ready.push_back(head);
    }
}

std::vector<std::size_t> EventRun::restart() {
    const std::lock_guard lock(m_mutex);
    const auto& vertices = m_replica.graph->vertices();
    // After a loss the inputs of shared nodes that were not called are lost too.
    const bool keeps_given = m_stalled == Stall::memory; // a shortage, not a loss
    m_stalled = Stall::none;
    m_restarts_soon = false;
    m_restarts += keeps_given;
    m_left = 0;
    m_under_way = 0;
    m_shared_under_way = keeps_given ? m_shared_under_way : 0;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
        if (!is_shared_node(i) || m_states[i] == State::waiting ||
            (m_states[i] == State::given && !keeps_given)) {
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
        if (m_states[i] == State::waiting && vertices[i].input_edges.empty()) {
            ready.push_back(i);
        }
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
        m_stream.reset(); // the next call takes one from the other device
    }
    return restart();
}

bool EventRun::can_move() const {
    const std::lock_guard lock(m_mutex);
    const auto is_on_host = [](const TensorSetPtr& set) { return set == nullptr || set->is_on_host(); };
    return std::all_of(m_kept.begin(), m_kept.end(), [&](const Ports& ports) {
        return std::all_of(ports.begin(), ports.end(), is_on_host);
    });
}

Error EventRun::reason() const {
    const std::lock_guard lock(m_mutex); // a shared node under way may set another one
    return *m_reason;
}

void EventRun::give_up(const std::string& note) {
    const Error why = reason();
    ErrorText text = why.text();
    text.expected += note;
    m_alive = false;
    m_state.failed(m_index, Error(why.kind(), text));
}

void EventRun::give_up_device(bool was_last) {
    m_alive = false;
    m_state.lost_device(m_index, reason(), was_last);
}

void EventRun::complete() {
    m_in_flight.reset();
    if (!m_alive) {
        m_in_window->set_failed();
    }
    m_in_window.reset();
    if (m_alive) {
        m_state.completed();
        log::info("graph", [&] { return "event " + std::to_string(m_index) + " done"; });
    }
    // Free the stream before the next event starts, which otherwise takes a new one with new memory.
    m_stream.reset();
}

} // namespace spng
