// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/replicas.h"

#include <algorithm>
#include <tuple>

namespace spng {

ReplicaQueues::ReplicaQueues(std::size_t replicas, int events_in_flight)
    : m_queues(replicas, Queue{.max_events = events_in_flight}) {}

std::optional<std::size_t> ReplicaQueues::shortest(bool with_room) const {
    std::optional<std::size_t> best;
    const auto length = [this](std::size_t replica) {
        return std::make_tuple(m_queues[replica].events, m_queues[replica].taken);
    };
    for (std::size_t replica = 0; replica < m_queues.size(); ++replica) {
        const Queue& queue = m_queues[replica];
        const bool is_open = queue.works && (!with_room || queue.events < queue.max_events);
        if (is_open && (!best || length(replica) < length(*best))) {
            best = replica;
        }
    }
    return best;
}

bool ReplicaQueues::none_works() const {
    return std::none_of(m_queues.begin(), m_queues.end(), [](const Queue& queue) { return queue.works; });
}

bool ReplicaQueues::none_is_left() {
    const std::lock_guard lock(m_mutex);
    return none_works();
}

std::optional<std::size_t> ReplicaQueues::take() {
    std::unique_lock lock(m_mutex);
    std::optional<std::size_t> replica;
    m_changed.wait(lock, [&] {
        replica = shortest(true);
        return replica || none_works();
    });
    if (replica) {
        ++m_queues[*replica].events;
        ++m_queues[*replica].taken;
    }
    return replica;
}

void ReplicaQueues::give_back(std::size_t replica) {
    const std::lock_guard lock(m_mutex);
    --m_queues[replica].events;
    m_changed.notify_all();
}

void ReplicaQueues::restrict_to_one(std::size_t replica) {
    const std::lock_guard lock(m_mutex);
    m_queues[replica].max_events = 1;
}

void ReplicaQueues::lose(std::size_t replica) {
    const std::lock_guard lock(m_mutex);
    m_queues[replica].works = false;
    m_changed.notify_all();
}

std::optional<std::size_t> ReplicaQueues::move_from(std::size_t lost) {
    const std::lock_guard lock(m_mutex);
    const auto replica = shortest(false);
    if (replica) {
        --m_queues[lost].events;
        ++m_queues[*replica].events;
        ++m_queues[*replica].taken;
    }
    return replica;
}

} // namespace spng
