#pragma once
// What is done about an event that ran out of memory or lost its device.

#include "spng/engine/event_run.h"

#include <optional>

namespace spng {

/// How often an event may begin again after it ran out of memory.
inline constexpr int max_tries = 3;

/// What is to be done with a stalled event, decided once for each time it stalls.
struct SecondTry {
    enum class What {
        alone,     ///< begin again when nothing else is under way on its device
        elsewhere, ///< begin again on another replica
        give_up    ///< it failed; restart() it all the same, so that it is led through
    };
    What what;
    std::size_t replica; ///< that works on it from now on
};

/// Decide, say so in the log, and see to it that the replica does less at the same time from now on; an event
/// that is given up has been told to the run's state.
/// @param replica  that worked on the event
SecondTry second_try(EventRun& event, Stall stalled, std::size_t replica,
                     const std::vector<Replica>& replicas, ReplicaQueues& queues, const RunState& state);

/// The replica's device is gone, and the event failed by it.
void lose_replica(EventRun& event, std::size_t replica, ReplicaQueues& queues);

} // namespace spng
