#pragma once
// One event on its way through the graph, and the state of a run that all its events share. Both engines are
// loops over EventRun::call(); they differ only in who calls it when.

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

/// What a run knows about failures and its end. Thread-safe.
class RunState {
public:
    /// @param memory_plan  in a few words, for the error when memory ran out all the same
    explicit RunState(const RunOptions& options, std::string memory_plan = {})
        : m_options(options), m_memory_plan(std::move(memory_plan)) {}

    const RunOptions& options() const { return m_options; }
    const std::string& memory_plan() const { return m_memory_plan; }

    /// The signal that stopped the run, or 0.
    int stop_signal() const {
        return m_options.stop_signal == nullptr ? 0 : m_options.stop_signal->load(std::memory_order_relaxed);
    }

    /// No new event is to be started.
    bool ending() const { return stop_signal() != 0 || m_first_failed.load() != none; }

    /// This event is not to be worked on any more: the run was stopped, or an earlier event failed.
    bool abandoned(std::uint64_t event) const { return stop_signal() != 0 || event > m_first_failed.load(); }

    void failed(std::uint64_t event, const Error& error);
    /// As failed(); after the last device no further event can work: the run ends, also when failed events
    /// are skipped.
    void lost_device(std::uint64_t event, const Error& error, bool was_last);
    void completed() { ++m_done; }

    /// The summary, or the error of the first failed event.
    RunSummary finish() const;

private:
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    RunOptions m_options;
    std::string m_memory_plan;
    std::atomic<std::uint64_t> m_done{0};
    std::atomic<std::uint64_t> m_first_failed{none};
    mutable std::mutex m_mutex;
    std::map<std::uint64_t, Error> m_errors;
    std::optional<Error> m_device_error; ///< of the first event that lost its device
};

/// Whether a source of the graph knows that nothing more will come (source.h).
bool is_at_end(const Graph& graph);

/// The first vertex that gets what a node with AsynchronousOutput gives; as many as there are vertices when
/// none does.
std::size_t first_that_waits(const Graph& graph);

/// Why an event cannot go on as it is.
enum class Stall { none, memory, device };

/// What a call led to.
struct Progress {
    bool stream_ended = false;      ///< a source was called and gave nothing
    std::vector<std::size_t> ready; ///< vertices that can be called now; each is named here once
    bool complete = false;          ///< all vertices were called
    bool lost = false;              ///< a node that exists once failed since the replica's device is gone
    Stall stalled = Stall::none;    ///< no call of the event is under way any more; see EventRun::restart
};

/// The tensor sets on the edges for one event; it is in flight from its construction to complete(). Different
/// vertices may be called by different threads at the same time.
///
/// An event that ran out of memory, or lost its device, can begin again. What the nodes that exist once
/// (is_shared) gave is therefore kept until the event is complete, as they cannot be asked twice.
class EventRun {
public:
    EventRun(const Replica& replica, RunState& state, std::uint64_t index);

    std::uint64_t index() const { return m_index; }

    /// Call a node with what waits at its inputs, which are then released, and put what it gives on its
    /// output edges. An event that failed or was abandoned is only led through. Errors go to the run's state,
    /// but for those after which the event may begin again.
    /// @param vertex  a source, or one that a call or restart named as ready
    Progress call(std::size_t vertex);

    /// For a stalled event: begin again behind the nodes that exist once and were called already.
    /// @return vertices that can be called now
    std::vector<std::size_t> restart();

    /// As restart(), on another device.
    std::vector<std::size_t> restart_on(const Replica& replica);

    /// Whether what it would begin with is on the host, and no node that exists once is to be called with
    /// what is not.
    bool can_move() const;

    /// For a stalled event: let it fail with what stalled it, to which `note` is added. It must be restarted
    /// too, so that the nodes in order see that it is left out.
    void give_up(const std::string& note);
    /// The event fails since its device is gone.
    void give_up_device(bool was_last);

    /// How often it was restarted.
    int restarts() const { return m_restarts; }
    /// What stalled it last.
    const Error& reason() const { return *m_reason; }

    /// Its last node was called. Counts the event as done if no node of it failed or was left out.
    void complete();

private:
    enum class State { waiting, given, called }; ///< for inputs; to the engine; for good

    /// Inputs of a vertex that is to be called; nothing when the event is only led through.
    std::optional<Ports> take_inputs(std::size_t vertex);
    Ports call_node(const Graph::Vertex& vertex, Ports inputs);
    void wait_for_inputs(const Graph::Vertex& vertex);
    void handle(const Error& error, bool can_begin_again);
    Progress book(std::size_t vertex, Ports outputs, bool was_called);
    void put(std::size_t edge, TensorSetPtr set, std::vector<std::size_t>& ready);
    bool is_once(std::size_t vertex) const { return m_once[vertex]; }

    Replica m_replica;
    RunState& m_state;
    std::uint64_t m_index;
    std::optional<EventStream> m_stream;
    std::vector<bool> m_once; ///< by vertex: is_shared

    mutable std::mutex m_mutex; ///< for what follows; not held while a node is called
    std::vector<State> m_states;
    std::vector<std::size_t> m_waits_for; ///< by vertex: inputs that have not come
    std::vector<Ports> m_kept;            ///< by vertex: what nodes that exist once gave
    std::vector<TensorSetPtr> m_on_edge;
    std::vector<std::shared_ptr<const c10::Event>> m_arriving; ///< by edge; null: what is there is complete
    std::vector<std::int64_t> m_put_at;                        ///< when it was put there; only for recordings
    std::size_t m_left = 0;                                    ///< vertices that were not called
    std::size_t m_under_way = 0; ///< vertices of the replica's own that were given and did not come back
    Stall m_stalled = Stall::none;
    std::optional<Error> m_reason;
    bool m_lost_in_order = false; ///< for Progress::lost
    int m_restarts = 0;

    std::atomic<bool> m_alive{true};
    std::optional<instrument::recording::EventInFlight> m_in_window;
    std::optional<instrument::EventRange> m_in_flight;
};

} // namespace spng
