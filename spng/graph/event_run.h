#pragma once
// One event on its way through the graph, and the state of a run that all its events share. Both engines are
// loops over run_vertex(); they differ only in who calls it when.

#include "spng/device/event_stream.h"
#include "spng/graph/graph.h"
#include "spng/graph/job.h"
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
    RunState(const RunOptions& options, c10::Device device) : m_options(options), m_device(device) {}

    const RunOptions& options() const { return m_options; }
    c10::Device device() const { return m_device; }

    /// The signal that stopped the run, or 0.
    int stop_signal() const {
        return m_options.stop_signal == nullptr ? 0 : m_options.stop_signal->load(std::memory_order_relaxed);
    }

    /// No new event is to be started.
    bool ending() const { return stop_signal() != 0 || m_first_failed.load() != none; }

    /// This event is not to be worked on any more: the run was stopped, or an earlier event failed.
    bool abandoned(std::uint64_t event) const { return stop_signal() != 0 || event > m_first_failed.load(); }

    void failed(std::uint64_t event, const Error& error);
    void completed() { ++m_done; }

    /// The summary, or the error of the first failed event.
    RunSummary finish() const;

private:
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    RunOptions m_options;
    c10::Device m_device;
    std::atomic<std::uint64_t> m_done{0};
    std::atomic<std::uint64_t> m_first_failed{none};
    mutable std::mutex m_mutex;
    std::map<std::uint64_t, Error> m_errors;
};

/// Whether a source of the graph knows that nothing more will come (source.h).
bool is_at_end(const Graph& graph);

/// The tensor sets on the edges for one event; it is in flight from its construction to complete().
class EventRun {
public:
    EventRun(const Graph& graph, RunState& state, std::uint64_t index);

    std::uint64_t index() const { return m_index; }

    /// Call a node with what waits at its inputs, which are then released, and put what it gives on its
    /// output edges. Does nothing for an event that failed or was abandoned. Errors go to the run's state.
    /// @return false when the node was a source and its stream has ended
    bool run_vertex(std::size_t vertex);

    /// Its last node was called. Counts the event as done if no node of it failed or was left out.
    void complete();

private:
    const Graph& m_graph;
    RunState& m_state;
    std::uint64_t m_index;
    EventStream m_stream;
    std::vector<TensorSetPtr>
        m_on_edge; ///< each written once and taken once, by nodes that run one after the other
    std::vector<std::int64_t> m_put_at; ///< when it was put there; only for recordings
    std::atomic<bool> m_alive{true};
    std::optional<instrument::recording::EventInFlight> m_in_window;
    std::optional<instrument::EventRange> m_in_flight;
};

} // namespace spng
