// SPDX-License-Identifier: Apache-2.0
#pragma once
// Warm-up of the chain before the first event. FFT plans, kernel code, device memory and page-locked host memory
// are made at their first use, which takes longer than an event; after the warm-up the first event costs as much
// as the others.

#include "spng/engine/replicas.h"

namespace spng {

/// Call the body after the DeviceWorkStarter with its example, on `streams` streams in turn, since memory
/// belongs to the stream of its first use. The calls are not measured. A failure is logged and does not fail the run.
/// @return duration in seconds; 0 on the CPU and without an example
double warm_up(const Replica& replica, int streams);

} // namespace spng
