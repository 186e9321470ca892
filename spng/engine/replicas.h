// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device replicas of a job. Each device has its own copy of all nodes between the sources and the sinks, and of
// their services. Each event goes to one replica. Nodes that must see events in order (sources, sinks, taps) are
// shared by all replicas (docs/decisions/replicas.md).

#include "spng/graph/graph.h"
#include "spng/graph/parts.h"

#include <c10/core/Device.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace spng {

class Body;

/// All replicas have the same vertices and edges; shared nodes (is_shared) are in the graphs of all replicas.
struct Replica {
    Replica(const Graph& its_graph, c10::Device its_device)
        : graph(&its_graph), device(its_device), parts(std::make_shared<const Parts>(split(its_graph))) {}
    const Graph* graph;
    c10::Device device;
    std::shared_ptr<const Parts> parts;
    Body* body = nullptr; ///< null: that of the engine
};

/// Number of events that each replica works on. Thread-safe.
class ReplicaQueues {
public:
    /// @param events_in_flight  of each replica
    ReplicaQueues(std::size_t replicas, int events_in_flight);

    /// Block until a replica has room for one more event, and take a slot of it: of the replica with the fewest
    /// events, among equals of the one that had the fewest so far, then of the first.
    /// @return nothing if no replica is left
    std::optional<std::size_t> take();

    /// Free the slot of an event that is done or has moved to another replica.
    void give_back(std::size_t replica);

    /// Let this replica work on one event at a time from now on.
    void restrict_to_one(std::size_t replica);

    /// Give no more events to this replica, whose device is lost.
    void lose(std::size_t replica);

    /// Move an event of a lost replica to another one, beyond the limit of that replica.
    /// @return nothing if no replica is left
    std::optional<std::size_t> move_from(std::size_t lost);

    bool none_is_left();

private:
    struct Queue {
        int max_events = 1;
        int events = 0;
        std::uint64_t taken = 0;
        bool works = true;
    };
    std::optional<std::size_t> shortest(bool with_room) const;
    bool none_works() const;

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<Queue> m_queues;
};

} // namespace spng
