#pragma once
// The one clock of a recording. Everything that is recorded (ranges, calls, samples, and what a device
// reports) is on it; a source whose records come with another clock converts them.

#include "profiling/recorder/file/values.h"

#include <ctime>

namespace spng::recorder {

/// 22 ns; the same on all threads and cores, and what spng::instrument::wall_nanoseconds() reads.
inline TimePoint now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return {static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec};
}

} // namespace spng::recorder
