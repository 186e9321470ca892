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

void TimeLimit::watch() {
    std::unique_lock lock(m_mutex);
    while (!m_ends) {
        const auto next =
            std::find_if(m_calls.begin(), m_calls.end(), [](const auto& call) { return !call.second; });
        if (next == m_calls.end()) {
            m_changed.wait(lock);
        } else if (const auto deadline = next->first; std::chrono::steady_clock::now() < deadline) {
            m_changed.wait_until(lock, deadline);
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
        m_entry = limit.m_calls.emplace(std::chrono::steady_clock::now() + limit.m_limit, false);
    }
    limit.m_changed.notify_one();
}

TimeLimit::Call::~Call() {
    const std::lock_guard lock(m_limit.m_mutex);
    m_limit.m_calls.erase(m_entry);
}

} // namespace spng
