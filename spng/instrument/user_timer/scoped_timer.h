// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time of a scope, printed when it ends:
//
//     {
//         ScopedTimer timer("Demo", {.synchronize = true, .filter = timing_all});
//         ...
//     }                                    prints tables of activities, then "Demo took 4.91 ms"
//
// Without `synchronize` it is the time on the host, which for a device is the time to queue work.

#include "spng/instrument/user_timer/activity_timing.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Function that prints the activities of a timer; the second argument begins each line.
using ActivityReport = std::function<void(const std::vector<TimingResult>&, const std::string& indent)>;

/// The measurements of a timer.
struct ScopedTimerResult {
    std::string name;
    double elapsed = 0; ///< [ms]
    int depth = 0;      ///< number of active timers of this thread around it
    std::vector<TimingResult> activities;
};

struct ScopedTimerOptions {
    bool active = true; ///< false: measure nothing and print nothing
    bool print = true;  ///< false: only measure
    /// Wait for all work of the device before and after. Ignored while the device's stream is captured into a graph,
    /// where waiting is not allowed.
    bool synchronize = false;
    /// The device to wait for; by default the current CUDA device if CUDA is in use, else none.
    std::optional<c10::Device> device{};
    /// Also begin an NVTX range of the timer's name in the domain "spng".
    bool use_nvtx = false;
    std::uint32_t colour = 0xFFC7C7C7; ///< of the range, 0xAARRGGBB
    /// The activities to time: a sum of timing_kernel, timing_memcpy, ...
    ActivityFilter filter = timing_none;
    ActivityReport report{}; ///< replaces timing_print; only called with a filter
    /// Called with the result when the timer ends, also if nothing is printed.
    std::function<void(const ScopedTimerResult&)> collect{};
    Writer write = write_to_stdout;
};

/// Timers nest: output is indented by four blanks for each active timer around. A timer must begin and end on the same
/// thread. It prints failures of the device and does not throw them. report, collect and write must not throw.
class ScopedTimer {
public:
    explicit ScopedTimer(std::string name, ScopedTimerOptions options = {});
    ~ScopedTimer();
    ScopedTimer(const ScopedTimer&) = delete;
    ScopedTimer& operator=(const ScopedTimer&) = delete;

    /// End the timer before the end of its scope.
    /// @return the measurements, also in later calls; only the name for an inactive timer
    const ScopedTimerResult& stop();

private:
    struct Running;
    ScopedTimerOptions m_options;
    ScopedTimerResult m_result;
    std::unique_ptr<Running> m_running; ///< null: inactive or stopped
};

} // namespace spng
