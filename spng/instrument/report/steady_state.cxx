// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/steady_state.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace spng::instrument {

SteadyState steady_state(const std::vector<NodeStatistics>& nodes) {
    std::map<std::uint64_t, std::int64_t> ends; // of each event, since the process was started
    for (const auto& node : nodes) {
        for (const auto& call : node.calls) {
            ends[call.event] = std::max(ends[call.event], call.start + call.wall);
        }
    }
    if (ends.size() < 2) {
        return {};
    }
    const auto later_events = static_cast<std::int64_t>(ends.size()) - 1;
    const std::uint64_t first = ends.begin()->first;
    std::int64_t between = 0;
    for (const auto& node : nodes) {
        if (node.node.kind == "source" || node.node.kind == "sink") {
            continue;
        }
        for (const auto& call : node.calls) {
            between += call.event == first ? 0 : call.wall - call.nested_wall;
        }
    }
    return {(ends.rbegin()->second - ends.begin()->second) / later_events, between / later_events};
}

} // namespace spng::instrument
