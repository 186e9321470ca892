#pragma once
// The chain is tried before the first event, so that this one costs as much as the others: plans of
// transforms, code of kernels, and memory on the device and page-locked on the host are made when they are
// used first, which takes longer than an event.

#include "spng/graph/graph.h"

#include <c10/core/Device.h>

namespace spng {

/// Call all nodes behind one that DeviceWorkStarter with its example, on `streams` streams one after the
/// other: memory is kept for the stream that it was first used on. Nodes that see one event at a time are
/// left out, with what is behind them. The calls are not measured. A failure is none of the run: it is
/// logged, and the events will show what it was about.
/// @return seconds it took; 0 on the CPU, and where no node has an example
double warm_up(const Graph& graph, c10::Device device, int streams);

} // namespace spng
