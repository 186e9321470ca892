// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/core/tensor_set.h"

#include <vector>

namespace spng {

/// Mix-in for the node that uploads events to the device. All later nodes work there.
class DeviceWorkStarter {
public:
    virtual ~DeviceWorkStarter() = default;

    /// Make an example of the expected events, with which the chain is warmed up before the first event
    /// (warm_up.h). Call after prepare().
    /// @return one set per output port, with the shapes, types and devices of the events and undefined values;
    /// empty if they are not known
    virtual std::vector<TensorSetPtr> example() const = 0;
};

} // namespace spng
