#pragma once
// How much tensor memory a job will take, told before its first event. The graph is gone through node by node
// as an engine would, with sizes instead of tensors: what each type of node makes, and what it needs besides
// while it works (memory_rules.h; docs/decisions/memory-plan.md).

#include "spng/graph/graph.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// What memory is for.
enum class MemoryUse { input, spectra, images, masks, network };
inline constexpr std::size_t memory_uses = 5;
const char* name_of(MemoryUse use);

/// Bytes by MemoryUse.
using MemoryByUse = std::array<std::int64_t, memory_uses>;
std::int64_t sum_of(const MemoryByUse& bytes);

struct MemoryPlan {
    MemoryByUse event{};        ///< of one event in flight, at the moment when it takes most
    std::string peaks_in;       ///< the node in which that is
    std::int64_t network = 0;   ///< what one forward takes besides the features, at any moment
    std::int64_t constants = 0; ///< kernels, spectra and weights, once for each replica
    std::int64_t files = 0;     ///< frames on the host: one read ahead, one being written
    std::int64_t ticks = 0;     ///< of the readout that was assumed
    /// of nodes without a rule: taken as if they passed their input on
    std::vector<std::string> unknown_types;

    std::int64_t event_peak() const { return sum_of(event); }
    /// Of one replica: constants, frames of files, and all events in flight at their peaks at the same time.
    std::int64_t total(int events_in_flight) const {
        return constants + files + events_in_flight * event_peak();
    }
};

/// @param components  the job's array of {type, name, data}
MemoryPlan plan_memory(const Graph& graph, const nlohmann::json& components);

/// The same for the windows into which a source cuts long readouts (docs/decisions/long-readouts.md), each an
/// event; nothing where the job cuts none.
std::optional<MemoryPlan> plan_window_memory(const Graph& graph, const nlohmann::json& components);

/// What may be done at the same time within a budget.
struct MemoryChoice {
    int events_in_flight = 1;
    std::int64_t network_budget = 0; ///< bytes for one forward, whose windows follow from it; 0: no limit
};

/// As much as fits: first fewer events in flight, then windows of the network; results do not depend on
/// either.
/// @param budget            bytes on each device; 0: no limit
/// @param events_in_flight  wanted, at least 1
/// Throws Error(Configuration) when one event, with a network cut as small as it can be, is too much.
MemoryChoice choose_within(const MemoryPlan& plan, std::int64_t budget, int events_in_flight);

/// The plan in a few lines for people: per event by use, constants, total against budget and free memory.
/// @param window  that of plan_window_memory
/// @param replicas   number of devices; `free` is what one of them has, -1 where nothing tells
std::string to_string(const MemoryPlan& plan, const std::optional<MemoryPlan>& window,
                      const MemoryChoice& choice, std::size_t replicas, std::int64_t budget,
                      std::int64_t free);
/// In one line, for errors.
std::string summary(const MemoryPlan& plan, const MemoryChoice& choice);
nlohmann::json json_of(const MemoryPlan& plan, const std::optional<MemoryPlan>& window,
                       const MemoryChoice& choice, std::size_t replicas, std::int64_t budget,
                       std::int64_t free);

} // namespace spng
