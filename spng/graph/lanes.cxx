#include "spng/graph/lanes.h"

#include "spng/graph/node.h"

#include <algorithm>
#include <tuple>

namespace spng {

bool is_shared(const Node& node) {
    return node.registered().inputs.empty() || node.registered().concurrency == Concurrency::serial;
}

LaneQueues::LaneQueues(std::size_t lanes, int events_in_flight)
    : m_queues(lanes, Queue{.most = events_in_flight}) {}

std::optional<std::size_t> LaneQueues::shortest(bool with_room) const {
    std::optional<std::size_t> best;
    const auto length = [this](std::size_t lane) {
        return std::make_tuple(m_queues[lane].events, m_queues[lane].taken);
    };
    for (std::size_t lane = 0; lane < m_queues.size(); ++lane) {
        const Queue& queue = m_queues[lane];
        const bool is_open = queue.works && (!with_room || queue.events < queue.most);
        if (is_open && (!best || length(lane) < length(*best))) {
            best = lane;
        }
    }
    return best;
}

bool LaneQueues::none_works() const {
    return std::none_of(m_queues.begin(), m_queues.end(), [](const Queue& queue) { return queue.works; });
}

bool LaneQueues::none_is_left() {
    const std::lock_guard lock(m_mutex);
    return none_works();
}

std::optional<std::size_t> LaneQueues::take() {
    std::unique_lock lock(m_mutex);
    std::optional<std::size_t> lane;
    m_changed.wait(lock, [&] {
        lane = shortest(true);
        return lane || none_works();
    });
    if (lane) {
        ++m_queues[*lane].events;
        ++m_queues[*lane].taken;
    }
    return lane;
}

void LaneQueues::give_back(std::size_t lane) {
    const std::lock_guard lock(m_mutex);
    --m_queues[lane].events;
    m_changed.notify_all();
}

void LaneQueues::restrict_to_one(std::size_t lane) {
    const std::lock_guard lock(m_mutex);
    m_queues[lane].most = 1;
}

void LaneQueues::lose(std::size_t lane) {
    const std::lock_guard lock(m_mutex);
    m_queues[lane].works = false;
    m_changed.notify_all();
}

std::optional<std::size_t> LaneQueues::move_from(std::size_t lost) {
    const std::lock_guard lock(m_mutex);
    const auto lane = shortest(false);
    if (lane) {
        --m_queues[lost].events;
        ++m_queues[*lane].events;
        ++m_queues[*lane].taken;
    }
    return lane;
}

} // namespace spng
