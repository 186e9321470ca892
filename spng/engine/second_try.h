// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recovery of an event that ran out of memory or lost its device.

#include "spng/engine/event_run.h"

#include <optional>

namespace spng {

/// Maximum number of restarts of an event that ran out of memory.
inline constexpr int max_restarts = 3;

enum class RecoveryAction {
    alone,     ///< restart when nothing else runs on the device
    elsewhere, ///< restart on another replica
    give_up    ///< unrecoverable; restart() so that the failed event drains through the graph
};

/// The recovery of a stalled event, decided each time it stalls.
struct SecondTry {
    RecoveryAction action;
    std::size_t replica; ///< the replica that works on the event from now on
};

/// Decide and log the recovery, and reduce the concurrency of the replica. An event that is given up has been
/// reported to the state of the run.
/// @param replica  the replica that worked on the event
SecondTry second_try(EventRun& event, Stall stalled, std::size_t replica,
                     const std::vector<Replica>& replicas, ReplicaQueues& queues, const RunState& state);

/// Return unused memory of the replica's device for an event that was restarted to run alone: memory that nodes
/// keep from event to event (SpareMemory; at the first restart the part used longest ago, at later ones all), and
/// what the allocator keeps.
void release_memory(const Replica& replica, const EventRun& event);

/// Give up a replica whose device is lost, and the event that failed by the loss.
void lose_replica(EventRun& event, std::size_t replica, ReplicaQueues& queues);

} // namespace spng
