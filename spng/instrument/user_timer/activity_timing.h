#pragma once
// Timing of single activities:
//
//     timing_begin(timing_all);
//     ...
//     const auto results = timing_end();
//     timing_print(results);
//
// On the CPU the activities are the operators of ATen and of this project, counted as operator_traits.h
// counts leaf operations. On a device they are what a provider such as CUPTI saw, otherwise the same
// operators with the time between two events of their stream: longer than the kernels themselves, and without
// kernels that no operator stands for. While a stream is captured into a graph nothing runs on the device,
// and the time is that of issuing. Only the calling thread is seen. Timing adds microseconds to each
// operator.

#include "spng/instrument/user_timer/activity.h"

#include <functional>
#include <string>
#include <vector>

namespace spng {

/// Where text goes; the default is standard output.
using Writer = std::function<void(const std::string&)>;
void write_to_stdout(const std::string& text);

/// From now on this thread's activities of these kinds are timed. Begins nest: each is ended by its own
/// timing_end(), and an outer one sees what an inner one sees.
void timing_begin(ActivityFilter filter = timing_all);

/// The activities since the matching timing_begin(), in the order in which they were issued. Waits until
/// devices have finished them. Throws Error(Usage) without timing_begin() on this thread.
std::vector<TimingResult> timing_end();

/// Three tables: the timeline in the order of the results, totals by activity and totals by device, both the
/// longest first.
/// @param indent  before each line
void timing_print(const std::vector<TimingResult>& results, const std::string& indent = "",
                  const Writer& write = write_to_stdout);

/// An activity that is no operator, such as the launch of a graph or of a kernel by hand, from its
/// construction to its destruction. Only seen while its thread is timed; otherwise it costs nothing.
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
