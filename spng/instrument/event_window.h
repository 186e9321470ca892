#pragma once
// Which events are profiled.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace spng::instrument {

/// What happens to one event.
enum class Capture {
    none,
    warm_up, ///< as if it were profiled, but its results are thrown away
    active
};

/// Events from first to last, counted from 0; or a schedule that repeats: some events left out, some to warm
/// up, some profiled. All events unless it says otherwise.
class EventWindow {
public:
    EventWindow() = default;

    /// "5" (one event), "5-9" (both included) or "5-" (to the end).
    /// @param where  what the user wrote it in, for errors: "--profile-events"
    /// Throws Error(Usage).
    static EventWindow from_range(const std::string& text, const std::string& where);

    /// "wait=1,warmup=1,active=3,repeat=2": keys in any order, active needed, the others 0; repeat=0: for
    /// ever. Throws Error(Usage).
    static EventWindow from_schedule(const std::string& text, const std::string& where);

    Capture capture(std::uint64_t event) const;
    bool is_everything() const { return !m_limited; }

private:
    bool m_limited = false;
    std::uint64_t m_wait = 0, m_warm_up = 0;
    std::uint64_t m_active = 1;
    std::uint64_t m_repeat = 0; ///< cycles; 0: for ever
};

} // namespace spng::instrument
