// SPDX-License-Identifier: Apache-2.0
#pragma once
// Zero of the ticks of channel masks. In frames (Frame, InputFrame, OutputFrame, files) ticks count from the start
// of the frame, as in the Wire-Cell Toolkit (img/src/FrameMasking.cxx): sample t of a row is tick first_tick + t.
// In the chain (EventInfo) they count from the first sample.

#include "WireCellSpng/ChannelMasks.h"

#include <cstdint>

namespace spng {

/// Add `ticks` to the limits of all ranges.
ChannelMasks shifted(ChannelMasks masks, std::int64_t ticks);

} // namespace spng
