// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tail of a job: reports, sinks, stitching and taps. They get the events in the order of the input, one after the other, so
// that output files do not depend on timing.

#include "spng/engine/attempts.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace spng {

/// Thread-safe.
class Tail {
public:
    Tail(Attempts& attempts, ReplicaQueues& queues, RunState& state)
        : m_attempts(attempts), m_queues(queues), m_state(state) {}

    /// Take an event that left the body. The tail is called for all events whose turn it is, by this thread, unless
    /// another one is at it. Then the events' places in the queues are free.
    /// @param has_results  false: the tail gets nothing of this event
    void deliver(std::unique_ptr<InFlight> in_flight, bool has_results);

private:
    struct Delivered {
        std::unique_ptr<InFlight> in_flight;
        bool has_results = false;
    };
    void end(Delivered delivered);
    bool call(InFlight& in_flight);

    Attempts& m_attempts;
    ReplicaQueues& m_queues;
    RunState& m_state;
    std::mutex m_mutex;
    std::uint64_t m_next = 0;
    bool m_is_busy = false;
    std::map<std::uint64_t, Delivered> m_waiting; ///< by index of the event
};

} // namespace spng
