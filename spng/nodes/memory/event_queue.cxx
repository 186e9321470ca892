// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/memory/event_queue.h"

#include "spng/instrument/clock.h"

#include <utility>

namespace spng {
namespace {

double seconds_since(std::int64_t begin) {
    return 1e-9 * static_cast<double>(instrument::wall_nanoseconds() - begin);
}

} // namespace

void EventQueue::push(QueuedEvent event, Done done) {
    const std::int64_t now = instrument::wall_nanoseconds();
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_closed || m_end || m_queue.size() < m_capacity; });
    require_open();
    m_queue.push_back({std::move(event), std::move(done), now});
    m_changed.notify_all();
}

bool EventQueue::try_push(QueuedEvent event, Done done) {
    const std::int64_t now = instrument::wall_nanoseconds();
    const std::lock_guard lock(m_mutex);
    require_open();
    if (m_queue.size() >= m_capacity) {
        return false;
    }
    m_queue.push_back({std::move(event), std::move(done), now});
    m_changed.notify_all();
    return true;
}

void EventQueue::require_open() const {
    if (m_end) {
        throw Error(*m_end);
    }
    if (m_closed) {
        throw closed();
    }
}

void EventQueue::close() {
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    m_changed.notify_all();
}

bool EventQueue::is_closed() const {
    const std::lock_guard lock(m_mutex);
    return m_closed;
}

std::size_t EventQueue::size() const {
    const std::lock_guard lock(m_mutex);
    return m_queue.size();
}

std::optional<Error> EventQueue::end_reason() const {
    const std::lock_guard lock(m_mutex);
    return m_end;
}

Error EventQueue::closed() {
    return {ErrorKind::Usage,
            {.what = "the pipeline is closed",
             .seen = "a frame after close()",
             .expected = "frames before close()",
             .hint = "make a new pipeline"}};
}

void EventQueue::end(const Error& reason) {
    std::vector<Done> left;
    {
        const std::lock_guard lock(m_mutex);
        m_end = reason;
        for (auto& [index, running] : m_running) {
            left.push_back(std::move(running.done));
        }
        for (Waiting& waiting : m_queue) {
            left.push_back(std::move(waiting.done));
        }
        m_running.clear();
        m_queue.clear();
        m_changed.notify_all();
    }
    for (const Done& done : left) {
        done({}, std::make_exception_ptr(reason));
    }
}

TensorSetPtr EventQueue::pop() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_closed || !m_queue.empty(); });
    if (m_queue.empty()) {
        return nullptr;
    }
    Waiting waiting = std::move(m_queue.front());
    m_queue.pop_front();
    const std::uint64_t index = m_next++;
    waiting.event.info->index = index;
    auto set =
        std::make_shared<const TensorSet>(std::move(waiting.event.info), std::move(waiting.event.tensors));
    waiting.result.waited_seconds = seconds_since(waiting.since);
    waiting.since = instrument::wall_nanoseconds();
    m_running.emplace(index, std::move(waiting));
    m_changed.notify_all();
    return set;
}

bool EventQueue::is_empty() const {
    const std::lock_guard lock(m_mutex);
    return m_queue.empty();
}

bool EventQueue::is_at_end() const {
    const std::lock_guard lock(m_mutex);
    return m_closed && m_queue.empty();
}

void EventQueue::deliver(const std::string& sink, const TensorSetPtr& set) {
    Waiting complete;
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_running.find(set->event().index);
        if (found == m_running.end()) {
            return; // failed meanwhile
        }
        found->second.result.sets[sink] = set;
        if (found->second.result.sets.size() < m_sinks) {
            return;
        }
        complete = std::move(found->second);
        m_running.erase(found);
    }
    complete.result.run_seconds = seconds_since(complete.since);
    complete.done(std::move(complete.result), nullptr);
}

void EventQueue::fail(std::uint64_t event, const Error& error) {
    Done done;
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_running.find(event);
        if (found == m_running.end()) {
            return;
        }
        done = std::move(found->second.done);
        m_running.erase(found);
    }
    done({}, std::make_exception_ptr(error));
}

} // namespace spng
