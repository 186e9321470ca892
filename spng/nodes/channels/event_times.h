// SPDX-License-Identifier: Apache-2.0
#pragma once
// Times of an event in ticks of another sampling period.

#include "spng/core/tensor_set.h"
#include "spng/detector/resample.h"

namespace spng {

/// Convert start, length, masks and readout window of an event to ticks of another sampling period. Do nothing for a
/// ratio of 1. A first tick above 0 becomes a part of the start, because it may begin between two ticks of the other period.
/// @param ratio   of the event's period and the other one
/// @param period  the other sampling period [ns]
void resample(EventInfo& event, const PeriodRatio& ratio, double period);

} // namespace spng
