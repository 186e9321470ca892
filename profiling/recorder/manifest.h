#pragma once

#include "profiling/recorder/options.h"

#include <string>
#include <utility>
#include <vector>

namespace spng::recorder {

/// What SPNG_RUN says about any recording when it begins: process, program, machine, times, settings.
std::vector<std::pair<std::string, std::string>> manifest_at_start(const Options& options,
                                                                   const std::string& final_name);

/// What one range with a registered name costs the thread that records it, measured once per process on a
/// buffer of its own.
struct RangeOverhead {
    double per_range_ns = 0; ///< push and pop together
    double inside_ns = 0;    ///< the part of it that lies between the range's start and end
};
const RangeOverhead& range_overhead();

} // namespace spng::recorder
