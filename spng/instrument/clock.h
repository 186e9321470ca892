#pragma once
// The project's clocks. Other folders use these instead of clock headers, so that what is measured, and with
// which clock, is decided in one place.

#include <cstdint>
#include <string>

namespace spng::instrument {

/// Whose processor time is meant. Process: all threads of the process but those that work beside the nodes
/// (BackgroundThread), right where one node runs at a time.
/// Thread: the calling thread alone, right where several nodes run at the same time; the helper threads
/// inside one operation are then not in it.
enum class CpuClock { Process, Thread };

/// Monotonic time; only differences mean anything.
std::int64_t wall_nanoseconds() noexcept;

std::int64_t cpu_nanoseconds(CpuClock clock) noexcept;

/// When this process was started, on the scale of wall_nanoseconds(), known to 10 ms. Where /proc does not
/// tell, when this library was loaded.
std::int64_t process_start_nanoseconds() noexcept;

/// The time of day in UTC, as 2026-01-31T12:00:00Z.
std::string utc_time();

/// Wall time since it was made.
class Stopwatch {
public:
    double seconds() const noexcept { return 1e-9 * static_cast<double>(wall_nanoseconds() - m_start); }

private:
    std::int64_t m_start = wall_nanoseconds();
};

} // namespace spng::instrument
