// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/event_times.h"

#include "spng/nodes/channels/channel_ranges.h"

#include <utility>

namespace spng {

void resample(EventInfo& event, const PeriodRatio& ratio, double period) {
    if (ratio.from == ratio.to) {
        return;
    }
    event.start += event.first_tick * event.tick;
    event.first_tick = 0;
    event.tick = period;
    event.ticks = ratio.ceil(event.ticks);
    event.masks = resampled(std::move(event.masks), ratio);
    if (event.window) {
        // FrameFileSource begins and cuts readout windows where ticks of both periods begin.
        event.window->core_begin = ratio.floor(event.window->core_begin);
        event.window->core_end = ratio.ceil(event.window->core_end);
    }
}

} // namespace spng
