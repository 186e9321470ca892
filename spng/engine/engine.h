#pragma once
// The two ways to run a graph. The result depends on neither the engine nor the number of graph threads.

#include "spng/core/field.h"
#include "spng/engine/event_run.h"

namespace spng {

/// Data of the component that names the engine and holds the graph, "Pgrapher" or "TbbFlow". One struct for
/// both, so that `--app` can run the graph of one with the other.
struct EngineConfig {
    std::vector<EdgeConfig> edges;
    int max_threads = 0;
    int events_in_flight = 2;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&EngineConfig::edges, "edges", "", required(), "the edges of the graph"),
            field(&EngineConfig::max_threads, "max_threads", "", between(0, 1024),
                  "TbbFlow: threads of the graph; 0: as many as cores, on devices at most two for each event "
                  "in flight"),
            field(&EngineConfig::events_in_flight, "events_in_flight", "", between(1, 1024),
                  "events worked on at the same time, each in memory of its own; Pgrapher takes at most two "
                  "on a device, and one on the CPU"));
    }
};

/// Serial and deterministic: event after event, node after node in topological order. The replicas get the
/// events in turn.
/// @param replicas             at least one
/// @param events_in_flight  2: on a device the next event is queued before this one is finished; else 1
void run_pgrapher(const std::vector<Replica>& replicas, RunState& state, int events_in_flight);

/// Parallel, on oneTBB: nodes of one event that do not wait for each other, and several events, at the same
/// time. Sources are called in the caller's thread, one event after the other, and each event goes to the
/// replica with the fewest; sinks see the events in the order of the input.
/// @param threads           at least 1, of all replicas together
/// @param events_in_flight  of each replica
void run_tbb_flow(const std::vector<Replica>& replicas, RunState& state, int threads, int events_in_flight);

} // namespace spng
