// SPDX-License-Identifier: Apache-2.0
#pragma once
// The calls of the body for one event, until one succeeds or the event is given up.

#include "spng/engine/body/body.h"
#include "spng/engine/replicas.h"
#include "spng/instrument/event_range.h"
#include "spng/instrument/recording.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace spng {

/// An event from the call of the sources to the end of the tail.
struct InFlight {
    InFlight(std::uint64_t index, std::size_t its_replica)
        : event{.index = index, .sets = {}}, replica(its_replica), in_window(index), range(index) {}
    HostEvent event;
    std::size_t replica;
    std::unique_ptr<EventCall> call; ///< null before the start and after a failure
    std::exception_ptr failure;      ///< of the start, for finish()
    int restarts = 0;                ///< after shortages of memory
    instrument::recording::EventInFlight in_window;
    instrument::EventRange range;
};

/// Thread-safe.
class Attempts {
public:
    /// Maximum number of restarts of an event that ran out of memory.
    static constexpr int max_restarts = 3;

    Attempts(const std::vector<Replica>& replicas, ReplicaQueues& queues, RunState& state)
        : m_replicas(replicas), m_queues(queues), m_state(state) {}

    /// Queue the work of an event. A failure is left to finish().
    void start(InFlight& in_flight) noexcept;

    /// Wait for the results. After a failure start again, at most three times: alone if memory ran out, on another replica if
    /// the device is lost. The event is on the host, so a new try repeats all of the body, and nothing else.
    /// @param be_alone  called before a start that must be the only one: wait for or drop all other events
    /// @return whether the results are there. If not, the state of the run has the reason
    bool finish(InFlight& in_flight, const std::function<void()>& be_alone);

    /// Report a failure of the tail.
    void fail(InFlight& in_flight, const Error& error);

private:
    void queue(InFlight& in_flight);
    bool recovers(InFlight& in_flight, const Error& error, bool no_memory,
                  const std::function<void()>& be_alone);
    bool moves(InFlight& in_flight, const Error& loss);
    void release_memory(const InFlight& in_flight) const;

    const std::vector<Replica>& m_replicas;
    ReplicaQueues& m_queues;
    RunState& m_state;
};

} // namespace spng
