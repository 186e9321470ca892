// SPDX-License-Identifier: Apache-2.0
#pragma once
// Planned tensor memory of a job. The plan visits the nodes in the order of the serial engine, with sizes
// instead of tensors; each node's memory rule gives its outputs and working memory (spng/graph/memory_rule.h,
// docs/decisions/memory-plan.md).

#include "spng/graph/graph.h"
#include "spng/graph/memory_ledger.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spng {

struct MemoryPlan {
    MemoryByUse event{};        ///< bytes of one event in flight, at its peak
    std::string peaks_in;       ///< the node with the peak
    std::int64_t network = 0;   ///< bytes of the largest forward of a network, without its features
    std::int64_t constants = 0; ///< bytes of kernels, spectra and weights, once for each replica
    std::int64_t files = 0;     ///< bytes of frames on the host: one read ahead, one being written
    std::int64_t ticks = 0;     ///< assumed length of the readout
    /// Node types without a memory rule; the plan lets their inputs through.
    std::vector<std::string> unknown_types;

    std::int64_t event_peak() const { return sum_of(event); }
    /// Bytes of one replica: constants, frames of files, all events in flight at their peaks at the same time, and
    /// the CUDA graphs, each of which has the memory of an event.
    std::int64_t total(int events_in_flight, int graphs = 0) const {
        return constants + files + (events_in_flight + graphs) * event_peak();
    }
};

/// Plan for readouts of the configured length.
/// @param environment  the configured components; they need not be prepared
MemoryPlan plan_memory(const Graph& graph, const Environment& environment);

/// Plan for the readout windows into which a source cuts long readouts (docs/decisions/long-readouts.md), each
/// an event.
/// @return nothing if no source cuts readouts
std::optional<MemoryPlan> plan_window_memory(const Graph& graph, const Environment& environment);

/// Concurrency that fits a memory budget.
struct MemoryChoice {
    int events_in_flight = 1;
    std::int64_t network_budget = 0; ///< bytes for one forward, which sets its network tiles; 0: no limit
    int graphs = 0;                  ///< CUDA graphs that may exist at the same time
};

/// Reduce first the CUDA graphs down to `kept_graphs`, then the events in flight, then the other graphs, then the
/// tiles of the network, until the plan fits. None of them changes the output.
/// @param budget            bytes on each device; 0: no limit
/// @param events_in_flight  wanted, at least 1
/// @param graphs            wanted, 0 or more
/// @param kept_graphs       graphs that are worth more than a second event in flight, 0 or 1
/// @throws Error(Configuration) if one event with the smallest network tiles exceeds the budget
MemoryChoice choose_within(const MemoryPlan& plan, std::int64_t budget, int events_in_flight, int graphs = 0,
                           int kept_graphs = 1);

/// Write the plan for people in a few lines: event by use, constants, total, budget and free memory. Without any
/// bytes, as for a job that only copies files, say that there is no plan.
/// @param window    from plan_window_memory()
/// @param replicas  number of device replicas
/// @param free      free bytes of one device; -1: unknown
std::string to_string(const MemoryPlan& plan, const std::optional<MemoryPlan>& window,
                      const MemoryChoice& choice, std::size_t replicas, std::int64_t budget,
                      std::int64_t free);
/// Write the plan in one line, for errors.
std::string summary(const MemoryPlan& plan, const MemoryChoice& choice);
nlohmann::json json_of(const MemoryPlan& plan, const std::optional<MemoryPlan>& window,
                       const MemoryChoice& choice, std::size_t replicas, std::int64_t budget,
                       std::int64_t free);

} // namespace spng
