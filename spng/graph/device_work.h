// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of the node with which the work of an event on the device begins.

#include "spng/core/tensor_set.h"

#include <vector>

namespace spng {

/// Interface of the node that uploads events to the device. All later nodes work there.
///
/// Its work on the device can be left to the body, which captures it with that of the later nodes. Its calls then
/// only make the set to upload.
class DeviceWorkStarter {
public:
    virtual ~DeviceWorkStarter() = default;

    /// Make an example of the expected events, with which the chain is warmed up before the first event
    /// (warm_up.h). Call after prepare().
    /// @return the outputs of a call, with the shapes, types and devices of the events and undefined values;
    /// empty if they are not known
    virtual std::vector<TensorSetPtr> example() const = 0;

    /// Leave the work on the device to the caller from now on. Calls then return the set to upload on the first
    /// output port, and sets without tensors on the others. Call after prepare() and before the first event.
    /// @return false if the node cannot do that; its calls stay as they are
    virtual bool leave_device_work() { return false; }

    /// Queue the work that was left to the caller. It reads nothing of the event but its length and times.
    /// @param uploaded  the set of a call, with all tensors on the device. Its reports have no values yet
    /// @return one set per output port. Each report of `uploaded` is among theirs, with values
    virtual std::vector<TensorSetPtr> device_work(const TensorSetPtr& uploaded) const { return {uploaded}; }
};

} // namespace spng
