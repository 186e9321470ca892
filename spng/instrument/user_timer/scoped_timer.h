#pragma once
// Time of a scope, printed when it ends:
//
//     {
//         ScopedTimer timer("Demo", {.synchronize = true, .filter = timing_all});
//         ...
//     }                                                          Demo took 4.91 ms, after tables of
//     activities
//
// Without `synchronize` it is the time that the host took, which for a device is the time to queue work.

#include "spng/instrument/user_timer/activity_timing.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Prints the activities of a timer; the second argument is to begin each line.
using ActivityReport = std::function<void(const std::vector<TimingResult>&, const std::string& indent)>;

/// What a timer measured.
struct ScopedTimerResult {
    std::string name;
    double elapsed = 0; ///< ms
    int depth = 0;      ///< how many active timers of this thread it is inside of
    std::vector<TimingResult> activities;
};

struct ScopedTimerOptions {
    bool active = true; ///< false: measure nothing and print nothing
    bool print = true;  ///< false: only measure
    /// Wait for all work of the device before and after. Left out while its stream is captured into a graph,
    /// where nothing may wait.
    bool synchronize = false;
    /// Of which device; the current CUDA device if CUDA is in use, else none.
    std::optional<c10::Device> device{};
    /// Also a range of the timer's name in the domain "spng".
    bool use_nvtx = false;
    std::uint32_t colour = 0xFFC7C7C7; ///< of the range, 0xAARRGGBB
    /// Which activities are timed: a sum of timing_kernel, timing_memcpy, ...
    ActivityFilter filter = timing_none;
    ActivityReport report{}; ///< instead of timing_print; only called with a filter
    /// Called with the result when the timer ends, whatever is printed.
    std::function<void(const ScopedTimerResult&)> collect{};
    Writer write = write_to_stdout;
};

/// Timers nest; what an inner one prints is indented by four blanks for each active timer around it. Begins
/// and ends on the same thread. Failures of the device while it measures end up in the text, never as
/// exceptions; report, collect and write must not throw.
class ScopedTimer {
public:
    explicit ScopedTimer(std::string name, ScopedTimerOptions options = {});
    ~ScopedTimer();
    ScopedTimer(const ScopedTimer&) = delete;
    ScopedTimer& operator=(const ScopedTimer&) = delete;

    /// End now instead of at the end of the scope, and say what was measured; later calls say it again. An
    /// inactive timer has only its name.
    const ScopedTimerResult& stop();

private:
    struct Running;
    ScopedTimerOptions m_options;
    ScopedTimerResult m_result;
    std::unique_ptr<Running> m_running; ///< null: inactive or stopped
};

} // namespace spng
