// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two engines that run a graph. The result depends on neither the engine nor the number of graph threads.

#include "spng/core/field.h"
#include "spng/engine/body/run_state.h"
#include "spng/engine/replicas.h"

#include <vector>

namespace spng {

/// Data of the engine component, "Pgrapher" or "TbbFlow", which holds the graph. Both have the same keys, so
/// that `--app` can exchange them.
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
                  "maximum number of events in memory at the same time; Pgrapher takes at most two on a "
                  "device and "
                  "one on the CPU"));
    }
};

struct ThreadCounts {
    int graph = 1;     ///< threads that call nodes, of all replicas together; at least 1
    int operation = 1; ///< threads inside one operation of a node
};

/// Run serially: event after event, node after node in topological order. The replicas get the events in turn.
/// @param replicas          at least one
/// @param events_in_flight  2: on a device the next event is queued before this one is finished; else 1
void run_pgrapher(const std::vector<Replica>& replicas, RunState& state, int events_in_flight);

/// Call when TbbFlow is chosen.
/// @throws Error(Usage) in a child of fork() whose parent called it: oneTBB expects threads that only the parent has
void require_tbb_flow();

/// Run in parallel with oneTBB: independent nodes of one event, and several events. The caller's thread calls
/// the sources, event after event; each event goes to the replica with the fewest events. Sinks get the events
/// in the order of the input.
/// @param events_in_flight  of each replica
void run_tbb_flow(const std::vector<Replica>& replicas, RunState& state, ThreadCounts threads,
                  int events_in_flight);

} // namespace spng
