// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time per event after the first one, which includes preparations at first use; with files and without.

#include "spng/instrument/report/run_report.h"

#include <vector>

namespace spng::instrument {

/// Nanoseconds per event; not_measured with fewer than two events.
struct SteadyState {
    /// Wall time with files: from the end of the first event to the end of the last, divided by the number of
    /// events between. Reading and writing beside the nodes counts where nodes have to wait for it.
    std::int64_t with_files = not_measured;
    /// Sum of the calls of all nodes between sources and sinks, mean over the events after the first. Where
    /// events or nodes run at the same time the calls overlap, and the sum is more than the wall time.
    std::int64_t without_files = not_measured;
};

SteadyState steady_state(const std::vector<NodeStatistics>& nodes);

} // namespace spng::instrument
