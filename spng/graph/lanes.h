#pragma once
// A job may work on several devices. Each has a lane: its own copy of all nodes between the sources and the
// sinks, and of the services behind them. Sources hand each event to one lane; nodes that must see events in
// order (sinks, taps) exist once and get them in the order of the input (docs/decisions/lanes.md).

#include "spng/graph/graph.h"

#include <c10/core/Device.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace spng {

/// All lanes have the same vertices and edges; nodes that exist once stand in all of them.
struct Lane {
    const Graph* graph = nullptr;
    c10::Device device{c10::kCPU};
};

/// Whether a node exists once for all lanes: sources, and nodes that see one event at a time.
bool is_shared(const Node& node);

/// How many events each lane works on. Thread-safe.
class LaneQueues {
public:
    /// @param events_in_flight  of each lane
    LaneQueues(std::size_t lanes, int events_in_flight);

    /// Waits until a lane has room for one more event and takes a place there: in the lane with the fewest
    /// events, among equals in the one that had the fewest so far, then the first.
    /// @return nothing when no lane is left
    std::optional<std::size_t> take();

    /// An event of this lane is done, or has moved elsewhere.
    void give_back(std::size_t lane);

    /// From now on this lane works on one event at a time.
    void restrict_to_one(std::size_t lane);

    /// Its device is gone: no event is given to it any more.
    void lose(std::size_t lane);

    /// A place for an event of a lane that was lost, beyond what the other lane takes otherwise.
    /// @return nothing when no lane is left
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
