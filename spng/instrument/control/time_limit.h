// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limit for calls into foreign code that may never return, such as a network with an endless loop. A thread cannot be
// stopped from outside, so the report of such a call ends the program.

#include "spng/core/error.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace spng {

/// Receives the report of a call that exceeded its limit, on another thread.
using TimeLimitHandler = void (*)(const Error&);

/// Set the handler of this process. The default logs the report and lets the call go on, which suits a library in
/// another program.
/// @param handler  not null
void set_time_limit_handler(TimeLimitHandler handler);

/// Watches calls of one kind. Thread-safe. Time in which the process is stopped (SIGSTOP) does not count.
class TimeLimit {
    using Clock = std::chrono::steady_clock;

public:
    /// @param limit   0: no limit, and no thread
    /// @param report  passed to the handler, once for each call that exceeds the limit
    TimeLimit(std::chrono::milliseconds limit, Error report);
    ~TimeLimit();
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;

    /// A call: from the construction to the destruction of the object.
    class Call {
    public:
        explicit Call(TimeLimit& limit);
        ~Call();
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;

    private:
        TimeLimit& m_limit;
        std::multimap<Clock::time_point, bool>::iterator m_entry;
    };

private:
    void watch();
    /// Now, without the time in which the process was stopped during a call.
    Clock::time_point running_time() const;

    std::chrono::milliseconds m_limit;
    Error m_report;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::multimap<Clock::time_point, bool> m_calls; ///< deadline: whether it was reported
    Clock::duration m_stopped{};
    bool m_ends = false;
    std::thread m_thread;
};

} // namespace spng
