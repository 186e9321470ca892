// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the traces of a frame to one block of samples. Without headers of the Wire-Cell Toolkit.

#include "WireCellSpng/Pipeline.h"

#include <cstddef>
#include <vector>

namespace spng::wirecell {

/// Consecutive samples of a channel, in the memory of the caller.
struct TraceView {
    int channel = 0;
    int first_tick = 0; ///< WCT's tbin
    const float* samples = nullptr;
    std::size_t count = 0;
};

/// Copy the traces into a dense frame: one row for each channel in the order of its first trace, from the earliest to the
/// latest tick of all traces. The samples are int16 if all are integers of that range, as in a frame file of ADC counts, else
/// float32. Ticks of a row that no trace has are 0, and listed in the mask "bad", so that the chain interpolates them.
/// Sets samples, type, channels, ticks, channel_ids, first_tick, masks and owner.
/// @throws Error(Input) for no traces, traces without samples, two traces of a channel that overlap, and traces so far apart
/// that the dense frame would have more than 2^31 samples
InputFrame dense_frame(const std::vector<TraceView>& traces);

} // namespace spng::wirecell
