// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selection of the events to profile.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace spng::instrument {

/// Treatment of one event.
enum class Capture {
    none,
    warm_up, ///< profiled, but the results are discarded
    active
};

/// Events from first to last, counted from 0, or a repeated schedule: some events skipped, some to warm up, some
/// profiled. By default all events.
class EventWindow {
public:
    EventWindow() = default;

    /// "5" (one event), "5-9" (both included) or "5-" (to the end).
    /// @param where  the option, for errors: "--profile-events"
    /// @throws Error(Usage)
    static EventWindow from_range(const std::string& text, const std::string& where);

    /// "wait=1,warmup=1,active=3,repeat=2": keys in any order; active is required, the others default to 0;
    /// repeat=0: without end.
    /// @throws Error(Usage)
    static EventWindow from_schedule(const std::string& text, const std::string& where);

    Capture capture(std::uint64_t event) const;
    bool is_everything() const { return !m_limited; }

private:
    bool m_limited = false;
    std::uint64_t m_wait = 0, m_warm_up = 0;
    std::uint64_t m_active = 1;
    std::uint64_t m_repeat = 0; ///< cycles; 0: without end
};

} // namespace spng::instrument
