// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a frame in the caller's memory to an event of a job.

#include "WireCellSpng/Pipeline.h"
#include "spng/nodes/memory/event_queue.h"

#include <string>
#include <vector>

namespace spng {

/// The frames that a pipeline expects.
struct ExpectedFrame {
    std::string tag;           ///< of the waveforms
    std::vector<int> channels; ///< of frames without channel ids; empty: such frames are rejected
    double tick_ns = 0;        ///< of frames without sampling period
};

/// Make the event of a frame. Samples of int16 and float32 are not copied.
/// @throws Error(Input) for null samples, no channels or ticks, repeated channels or a count that differs from that of the
/// samples, a sampling period that is not positive, ranges that end before they begin, a CUDA device that does not exist, and
/// values that neither int16 nor float32 can represent
QueuedEvent event_of(InputFrame frame, const ExpectedFrame& expected);

} // namespace spng
