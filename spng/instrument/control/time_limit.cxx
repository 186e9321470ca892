// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/control/time_limit.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/core/log/log.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace spng {
namespace {

std::atomic<TimeLimitHandler> the_handler{
    [](const Error& report) { log::error("time limit", report.what()); }};

constexpr std::chrono::seconds slice{1}; // of the waiting, to notice that the process was stopped

} // namespace

void set_time_limit_handler(TimeLimitHandler handler) {
    the_handler = handler;
}

TimeLimit::TimeLimit(std::chrono::milliseconds limit, Error report)
    : m_limit(limit), m_report(std::move(report)) {
    if (limit.count() > 0) {
        const recorder::SignalsBlocked for_the_thread; // signals go to the threads of the program
        m_thread = std::thread([this] { watch(); });
    }
}

TimeLimit::~TimeLimit() {
    {
        const std::lock_guard lock(m_mutex);
        m_ends = true;
    }
    m_changed.notify_one();
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

TimeLimit::Clock::time_point TimeLimit::running_time() const {
    return Clock::now() - m_stopped;
}

void TimeLimit::watch() {
    std::unique_lock lock(m_mutex);
    while (!m_ends) {
        const auto next =
            std::find_if(m_calls.begin(), m_calls.end(), [](const auto& call) { return !call.second; });
        if (next == m_calls.end()) {
            m_changed.wait(lock);
        } else if (const auto left = next->first - running_time(); left > left.zero()) {
            const auto begin = Clock::now();
            m_changed.wait_for(lock, std::min<Clock::duration>(slice, left));
            if (const auto late = Clock::now() - begin - 2 * slice; late > late.zero()) {
                m_stopped += late; // the process was stopped, for example by the batch system
            }
        } else {
            next->second = true;
            lock.unlock();
            the_handler.load()(m_report);
            lock.lock();
        }
    }
}

TimeLimit::Call::Call(TimeLimit& limit) : m_limit(limit) {
    {
        const std::lock_guard lock(limit.m_mutex);
        m_entry = limit.m_calls.emplace(limit.running_time() + limit.m_limit, false);
    }
    limit.m_changed.notify_one();
}

TimeLimit::Call::~Call() {
    const std::lock_guard lock(m_limit.m_mutex);
    m_limit.m_calls.erase(m_entry);
}

} // namespace spng
