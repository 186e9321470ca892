// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/clock.h"

#include "spng/core/files/proc_files.h"
#include "spng/instrument/background_thread.h"

#include <ctime>
#include <sstream>
#include <unistd.h>

namespace spng::instrument {
namespace {

std::int64_t nanoseconds_of(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

const std::int64_t loaded_at = wall_nanoseconds();

std::int64_t find_process_start() {
    std::istringstream start_ticks(process_start_ticks());
    std::int64_t ticks_since_boot = 0;
    const std::int64_t ticks_per_second = sysconf(_SC_CLK_TCK);
    if (!(start_ticks >> ticks_since_boot) || ticks_per_second <= 0) {
        return loaded_at;
    }
    const std::int64_t age =
        nanoseconds_of(CLOCK_BOOTTIME) - ticks_since_boot * (1'000'000'000 / ticks_per_second);
    const std::int64_t start = wall_nanoseconds() - age;
    // A sandbox may count the boot differently in /proc and in the clock; then the loading time is the better
    // guess.
    return start <= loaded_at && age >= 0 ? start : loaded_at;
}

} // namespace

std::int64_t wall_nanoseconds() noexcept {
    return nanoseconds_of(CLOCK_MONOTONIC);
}

std::int64_t cpu_nanoseconds(CpuClock clock) noexcept {
    if (clock == CpuClock::Thread) {
        return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
    }
    return nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID) - background_cpu_nanoseconds();
}

std::int64_t process_start_nanoseconds() noexcept {
    static const std::int64_t start = find_process_start();
    return start;
}

std::int64_t utc_milliseconds() noexcept {
    return nanoseconds_of(CLOCK_REALTIME) / 1'000'000;
}

std::string utc_time() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

} // namespace spng::instrument
