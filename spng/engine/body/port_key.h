// SPDX-License-Identifier: Apache-2.0
#pragma once
// The key that events must share to use one capture of a device section.

#include "spng/graph/node.h"

#include <string>

namespace spng {

/// Return as text all properties of the inputs that nodes can see on the host: shapes, types, layouts, axes,
/// units, channel tables, sampling and length of the event, and whether it is a readout window. The text leaves
/// out tensor values, the event's ids and masks, and times, of which it only gives which are equal.
std::string port_key(const Ports& inputs);

} // namespace spng
