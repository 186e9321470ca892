// SPDX-License-Identifier: Apache-2.0
#pragma once
// Timing of single activities:
//
//     timing_begin(timing_all);
//     ...
//     const auto results = timing_end();
//     timing_print(results);
//
// On the CPU the activities are the operators of ATen and of this project, counted as operator_traits.h
// counts leaf operations. On a device a provider such as CUPTI reports them; without one they are the same
// operators with the time between two events of their stream. That time is longer than the kernel itself, and
// kernels launched without an operator are missing. While a stream is captured into a graph nothing runs on the
// device, and the time is that of issuing. Only the calling thread is timed. Timing adds microseconds to each
// operator.

#include "spng/instrument/user_timer/activity.h"

#include <functional>
#include <string>
#include <vector>

namespace spng {

/// Function that writes text; standard output by default.
using Writer = std::function<void(const std::string&)>;
void write_to_stdout(const std::string& text);

/// Begin to time this thread's activities of these kinds. Sections nest: each has its own timing_end(), and an outer
/// section includes the activities of inner ones.
void timing_begin(ActivityFilter filter = timing_all);

/// Return the activities since the matching timing_begin(), in the order of issue. Wait until devices have finished
/// them.
/// @throws Error(Usage) without timing_begin() on this thread
std::vector<TimingResult> timing_end();

/// Print three tables: the timeline in the order of the results, totals by activity and totals by device, both the
/// longest first.
/// @param indent  before each line
void timing_print(const std::vector<TimingResult>& results, const std::string& indent = "",
                  const Writer& write = write_to_stdout);

/// Scope of an activity that is not an operator, such as the launch of a graph or of a kernel by hand. Has no effect
/// unless its thread is timed.
class ActivityScope {
public:
    ActivityScope(const char* name, ActivityFilter kind, c10::Device device);
    ~ActivityScope();
    ActivityScope(const ActivityScope&) = delete;
    ActivityScope& operator=(const ActivityScope&) = delete;

private:
    bool m_is_timed;
};

} // namespace spng
