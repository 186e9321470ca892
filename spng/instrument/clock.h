// SPDX-License-Identifier: Apache-2.0
#pragma once
// The clocks of the project. Other folders use these instead of clock headers, so that this file alone chooses the
// clocks.

#include <cstdint>
#include <string>

namespace spng::instrument {

/// Threads whose CPU time counts. Process: all threads of the process except background threads
/// (BackgroundThread); correct if one node runs at a time. Thread: the calling thread; for several nodes at the
/// same time, without the helper threads inside an operation.
enum class CpuClock { Process, Thread };

/// Monotonic time; only differences are meaningful.
std::int64_t wall_nanoseconds() noexcept;

std::int64_t cpu_nanoseconds(CpuClock clock) noexcept;

/// Start of this process on the scale of wall_nanoseconds(), to 10 ms; the load time of this library if /proc is
/// not readable.
std::int64_t process_start_nanoseconds() noexcept;

/// The time of day, since 1970 in UTC.
std::int64_t utc_milliseconds() noexcept;

/// The time of day in UTC, as 2026-01-31T12:00:00Z.
std::string utc_time();

/// Wall time since construction.
class Stopwatch {
public:
    double seconds() const noexcept { return 1e-9 * static_cast<double>(wall_nanoseconds() - m_start); }

private:
    std::int64_t m_start = wall_nanoseconds();
};

} // namespace spng::instrument
