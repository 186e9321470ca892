// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tensors, channel tables and times of the sets at the ports of a device section, in an order that is the same for all
// events of a shape.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace spng {

using Tables = std::vector<std::shared_ptr<const ChannelTable>>;

/// All tensors of the sets and their channel tables (for_each_tensor), each once, without those that are always on the
/// host.
std::vector<at::Tensor> tensors_of(const Ports& ports);

/// All channel tables, each once.
Tables tables_of(const Ports& ports);

/// Times at which an axis may start [ns]: 0, those of the event, and those of the axes of the sets.
std::vector<double> times_of(const Ports& inputs);

/// Whether the positions of an axis are times.
inline bool is_time(const Axis& axis) {
    return axis.unit == "ns";
}

} // namespace spng
