// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/tail.h"

#include "spng/device/memory/out_of_memory.h"

#include <utility>

namespace spng {

void Tail::deliver(std::unique_ptr<InFlight> in_flight, bool has_results) {
    std::unique_lock lock(m_mutex);
    const std::uint64_t index = in_flight->event.index;
    m_waiting.emplace(index, Delivered{std::move(in_flight), has_results});
    while (!m_is_busy && !m_waiting.empty() && m_waiting.begin()->first == m_next) {
        Delivered due = std::move(m_waiting.extract(m_waiting.begin()).mapped());
        m_is_busy = true;
        lock.unlock();
        end(std::move(due));
        lock.lock();
        m_is_busy = false;
        ++m_next;
    }
}

void Tail::end(Delivered delivered) {
    InFlight& in_flight = *delivered.in_flight;
    const std::uint64_t index = in_flight.event.index;
    const bool is_done = delivered.has_results && call(in_flight);
    if (!is_done) {
        in_flight.in_window.set_failed();
    }
    const std::size_t replica = in_flight.replica;
    // Frees the stream before the next event starts, which otherwise takes a new one with new memory.
    delivered.in_flight.reset();
    if (is_done) {
        m_state.completed(index);
    }
    m_queues.give_back(replica);
}

bool Tail::call(InFlight& in_flight) {
    try {
        in_flight.call->read_reports();
        for (const Step& step : in_flight.call->parts().tail) {
            in_flight.call->call(step);
        }
        return true;
    } catch (const Abandoned&) {
        return false;
    } catch (...) {
        m_attempts.fail(in_flight, current_error());
        return false;
    }
}

} // namespace spng
