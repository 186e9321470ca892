// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clock of the recording. All times (ranges, calls, samples, device activity) are on this clock; a source
// with another clock converts its times.

#include "profiling/recorder/file/values.h"

#include <ctime>

namespace spng::recorder {

inline std::int64_t clock_ns(clockid_t clock) noexcept {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Return the time of CLOCK_MONOTONIC, which is the same on all threads and cores and is also read by
/// spng::instrument::wall_nanoseconds(). A call takes 22 ns.
inline TimePoint now() noexcept {
    return {clock_ns(CLOCK_MONOTONIC)};
}

} // namespace spng::recorder
