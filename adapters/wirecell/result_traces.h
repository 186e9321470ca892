// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the result of the chain to traces with tags. Without headers of the Wire-Cell Toolkit.

#include "WireCellSpng/Pipeline.h"
#include "adapters/wirecell/keys.h"

#include <cstddef>
#include <string>
#include <vector>

namespace spng::wirecell {

/// Consecutive samples of a channel.
struct ResultTrace {
    int channel = 0;
    int first_tick = 0;         ///< WCT's tbin
    std::vector<float> samples; ///< not empty
};

/// The traces of one tag.
struct ResultTag {
    std::string tag;
    std::vector<std::size_t> traces; ///< indices
    std::vector<double> summary;     ///< empty, or one value for each trace
};

struct ResultTraces {
    double start_ns = 0; ///< time of tick 0
    double tick_ns = 0;
    std::vector<ResultTrace> traces;
    std::vector<ResultTag> tags; ///< in the order of SigProcKeys::tags
};

/// Copy the samples of a result into traces: one for each channel, or one for each run if they are sparse. Tags of the same
/// product and scale share traces.
/// @throws Error(Internal) if the result lacks a product
ResultTraces result_traces(const OutputFrame& result, const SigProcKeys& keys);

} // namespace spng::wirecell
