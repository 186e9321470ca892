// SPDX-License-Identifier: Apache-2.0
#pragma once
// One event in the graph, and the state of the run that all events share. Both engines are loops over
// EventRun::call(); they differ in the order and the threads of the calls.

#include "spng/device/event_stream.h"
#include "spng/engine/job.h"
#include "spng/engine/replicas.h"
#include "spng/graph/graph.h"
#include "spng/graph/node.h"
#include "spng/instrument/event_range.h"
#include "spng/instrument/recording.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

namespace spng {

/// Failures and the end of a run. Thread-safe.
class RunState {
public:
    /// @param memory_plan  summary for the error of an event that runs out of memory
    explicit RunState(const RunOptions& options, std::string memory_plan = {})
        : m_options(options), m_memory_plan(std::move(memory_plan)) {}

    const RunOptions& options() const { return m_options; }
    const std::string& memory_plan() const { return m_memory_plan; }

    /// The signal that stopped the run, or 0.
    int stop_signal() const {
        return m_options.stop_signal == nullptr ? 0 : m_options.stop_signal->load(std::memory_order_relaxed);
    }

    /// Whether no new event may start.
    bool ending() const { return stop_signal() != 0 || m_first_failed.load() != none; }

    /// Whether the work on this event must end: the run was stopped, or an earlier event failed.
    bool abandoned(std::uint64_t event) const { return stop_signal() != 0 || event > m_first_failed.load(); }

    void failed(std::uint64_t event, const Error& error);
    /// As failed(). The loss of the last device ends the run, even if failed events are skipped.
    void lost_device(std::uint64_t event, const Error& error, bool was_last);
    void completed() {
        ++m_done;
        if (m_options.counts != nullptr) {
            ++m_options.counts->done;
        }
    }

    /// @return the summary of the run
    /// @throws the Error of the first failed event
    RunSummary finish() const;

private:
    void keep(std::uint64_t event, const Error& error, bool ends_run);

    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    RunOptions m_options;
    std::string m_memory_plan;
    std::atomic<std::uint64_t> m_done{0};
    std::atomic<std::uint64_t> m_first_failed{none};
    mutable std::mutex m_mutex;
    std::map<std::uint64_t, Error> m_errors;
    std::optional<Error> m_device_error; ///< of the first event that lost its device
};

/// Whether a source of the graph reports the end of the stream (node_mixins.h).
bool is_at_end(const Graph& graph);

/// Whether a source of the graph would wait for its next event (WaitingSource).
bool must_wait(const Graph& graph);

/// @return the first vertex after a node with AsynchronousOutput; the number of vertices if there is none
std::size_t first_that_waits(const Graph& graph);

/// Reason why an event cannot continue without a restart.
enum class Stall { none, memory, device };

/// Effects of a call.
struct Progress {
    bool stream_ended = false;      ///< a source returned no set
    std::vector<std::size_t> ready; ///< vertices that can be called now; each is reported once
    bool complete = false;          ///< all vertices were called
    bool lost = false;              ///< a shared node failed because the device is lost
    /// Reason why a shared node was not called. It is called after the restart of the event, and before later
    /// events.
    Stall deferred = Stall::none;
    Stall stalled = Stall::none; ///< set when the last call of a stalled event ends; see restart()
};

/// The tensor sets of one event on the edges. The event is in flight from construction to complete(). Several
/// threads may call different vertices at the same time.
///
/// An event that ran out of memory or lost its device can restart. Shared nodes (is_shared) are not called again,
/// so their outputs are kept until the event is complete. If the loss or the shortage shows before a shared node is
/// called, for example while the engine waits for its inputs or completes them, the call is deferred.
class EventRun {
public:
    EventRun(const Replica& replica, RunState& state, std::uint64_t index);

    std::uint64_t index() const { return m_index; }

    /// Call a node with the sets on its input edges, release them, and put the outputs on its output edges. The
    /// node is not called for a failed or abandoned event, which only drains. Errors go to the state of the run,
    /// except those after which the event may restart.
    /// @param vertex  a source, or a vertex that call() or restart() returned as ready
    Progress call(std::size_t vertex);

    /// Restart a stalled event after the shared nodes that were already called.
    /// @return vertices that can be called now, among them sources that were not called yet. If the device is
    /// lost, they replace all vertices reported before
    std::vector<std::size_t> restart();

    /// Restart on another replica.
    std::vector<std::size_t> restart_on(const Replica& replica);

    /// Whether the event can restart on another device: all kept outputs are on the host.
    bool can_move() const;

    /// Fail a stalled event with the error that stalled it. Call restart() afterwards, so that the event drains
    /// and serial nodes skip it.
    /// @param note  appended to `expected` of the error
    void give_up(const std::string& note);
    /// Fail the event because its device is lost.
    void give_up_device(bool was_last);

    /// Number of restarts after a shortage of memory.
    int restarts() const { return m_restarts; }
    /// The error that stalled the event last.
    Error reason() const;

    /// End the event after its last call. Count it as done if no node failed or was skipped.
    void complete();

private:
    /// Waiting for inputs; reported as ready; called and not to be called again.
    enum class State { waiting, given, called };
    /// The node returned; it failed or the event drains; it could not be called before a restart.
    enum class Outcome { returned, left_out, not_called };

    /// @return the inputs of a vertex; nothing if the event only drains
    std::optional<Ports> take_inputs(std::size_t vertex);
    /// @return the stream of the event, taken from its device at the first call
    const EventStream& stream();
    Ports call_node(const Graph::Vertex& vertex, const Ports& inputs);
    void wait_for_inputs(const Graph::Vertex& vertex);
    /// Complete the inputs whose copies were still running (AsynchronousOutput::arrived).
    void complete_inputs(const Graph::Vertex& vertex, Ports& inputs) const;
    /// @param was_entered  the node was called
    Outcome handle(const Error& error, std::size_t vertex, bool was_entered);
    Progress book(std::size_t vertex, Ports outputs, Outcome outcome);
    void finish_call(std::size_t vertex, Ports outputs, Outcome outcome, Progress& progress);
    void put(std::size_t edge, TensorSetPtr set, std::vector<std::size_t>& ready);
    bool is_shared_node(std::size_t vertex) const { return m_shared[vertex]; }

    Replica m_replica;
    RunState& m_state;
    std::uint64_t m_index;
    std::optional<EventStream> m_stream;
    std::vector<bool> m_shared; ///< is_shared, by vertex

    mutable std::mutex m_mutex; ///< guards the members below; not held during calls of nodes
    std::vector<State> m_states;
    std::vector<std::size_t> m_waits_for; ///< by vertex: number of missing inputs
    std::vector<Ports> m_kept;            ///< by vertex: outputs of shared nodes
    std::vector<TensorSetPtr> m_on_edge;
    std::vector<std::shared_ptr<const c10::Event>>
        m_arriving;                     ///< by edge: copies that are still running; or null
    std::vector<std::int64_t> m_put_at; ///< by edge: time of the set; only for recordings
    std::size_t m_left = 0;             ///< number of vertices that were not called
    std::size_t m_under_way = 0;        ///< number of vertices, not shared, that are ready or running
    std::size_t m_shared_under_way = 0; ///< number of shared vertices that are ready or running
    Stall m_stalled = Stall::none;
    bool m_restarts_soon = false; ///< Progress::stalled was reported
    std::optional<Error> m_reason;
    bool m_lost_in_order = false; ///< for Progress::lost
    int m_restarts = 0;

    std::atomic<bool> m_alive{true};
    std::optional<instrument::recording::EventInFlight> m_in_window;
    std::optional<instrument::EventRange> m_in_flight;
};

} // namespace spng
