// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiling/recorder/options.h"

#include <string>
#include <utility>
#include <vector>

namespace spng::recorder {

/// Return the entries of SPNG_RUN at the start of a recording: process, program, machine, times, settings.
std::vector<std::pair<std::string, std::string>> manifest_at_start(const Options& options,
                                                                   const std::string& final_name);

/// Time that one recorded range with a registered name takes on its thread.
struct RangeOverhead {
    double per_range_ns = 0; ///< push and pop together
    double inside_ns = 0;    ///< part between the start and the end of the range
};
/// Return the overhead of this process. The first call measures it on a separate buffer.
const RangeOverhead& range_overhead();

} // namespace spng::recorder
