#pragma once
// A job may work on several devices. Each has a replica: its own copy of all nodes between the sources and the
// sinks, and of the services behind them. Sources hand each event to one replica; nodes that must see events in
// order (sinks, taps) exist once and get them in the order of the input (docs/decisions/replicas.md).

#include "spng/graph/graph.h"

#include <c10/core/Device.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace spng {

/// All replicas have the same vertices and edges; nodes that exist once stand in all of them.
struct Replica {
    const Graph* graph = nullptr;
    c10::Device device{c10::kCPU};
};

/// Whether a node exists once for all replicas: sources, and nodes that see one event at a time.
bool is_shared(const Node& node);

/// How many events each replica works on. Thread-safe.
class ReplicaQueues {
public:
    /// @param events_in_flight  of each replica
    ReplicaQueues(std::size_t replicas, int events_in_flight);

    /// Waits until a replica has room for one more event and takes a place there: in the replica with the fewest
    /// events, among equals in the one that had the fewest so far, then the first.
    /// @return nothing when no replica is left
    std::optional<std::size_t> take();

    /// An event of this replica is done, or has moved elsewhere.
    void give_back(std::size_t replica);

    /// From now on this replica works on one event at a time.
    void restrict_to_one(std::size_t replica);

    /// Its device is gone: no event is given to it any more.
    void lose(std::size_t replica);

    /// A place for an event of a replica that was lost, beyond what the other replica takes otherwise.
    /// @return nothing when no replica is left
    std::optional<std::size_t> move_from(std::size_t lost);

    bool none_is_left();

private:
    struct Queue {
        int most = 1;
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
