// SPDX-License-Identifier: Apache-2.0
#pragma once
// Properties of single nodes that engines treat differently.

#include "spng/core/tensor_set.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Mix-in for sources that can report the end of the stream ahead of time. Engines then skip the final empty
/// call, so that it does not appear in profiles.
class EndAwareSource {
public:
    virtual ~EndAwareSource() = default;

    /// @return true if the next call would end the stream; false if it would not, or if that is not known yet
    virtual bool at_end() const = 0;

    /// @return the share of the events that calls have returned so far, 0 to 1, for the display of progress; empty if it is
    /// not known. Thread-safe
    virtual std::optional<double> share_done() const { return std::nullopt; }
};

/// Mix-in for sources whose next event may come late, from the program that owns the job. Engines finish the events in
/// flight before they wait for it.
class WaitingSource {
public:
    virtual ~WaitingSource() = default;

    /// @return true if the next call would have to wait
    virtual bool must_wait() const = 0;
};

/// Mix-in for the node that uploads events to the device. All later nodes work there.
///
/// Its work on the device can be left to an engine, which captures it with that of the later nodes. Its calls then
/// only make the set to upload.
class DeviceWorkStarter {
public:
    /// The outputs of a call, and what it found out about the event.
    struct DeviceWork {
        std::vector<TensorSetPtr> outputs; ///< one set per output port
        at::Tensor findings;
    };

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
    /// @param uploaded  the set of a call, with all tensors on the device
    virtual DeviceWork device_work(const TensorSetPtr& uploaded) const {
        return {std::vector<TensorSetPtr>{uploaded}, {}};
    }

    /// Queue the copy of the findings to the host, for the event of the set.
    /// @param set       of a call
    /// @param findings  of device_work() for this set
    virtual void collect(const TensorSet& /*set*/, const at::Tensor& /*findings*/) const {}
};

/// Mix-in for nodes whose device work cannot always be captured into a CUDA graph, because they wait for the
/// device or queue different work from call to call.
class Uncapturable {
public:
    virtual ~Uncapturable() = default;

    /// @return the reason in a few words ("the network is an AOTInductor package"); empty if the work can be
    /// captured. Call after prepare().
    virtual std::string capture_rejection() const = 0;
};

/// Mix-in for nodes that keep memory of the device from event to event and can work without it.
class SpareMemory {
public:
    virtual ~SpareMemory() = default;

    /// Return memory to the device. Called when an event ran out of memory, from any
    /// thread, while calls for other events may run. Throws c10::Error if the device is lost.
    /// @param all  all of it; otherwise the part that was used longest ago
    virtual void release_memory(bool all) = 0;
};

/// Mix-in for nodes whose calls return while their output tensors are still being copied to the host. The
/// copies are complete when the event's stream has reached its position at the return. Engines wait for that
/// before they call the next nodes; between source and sink they wait for nothing else. Outputs share no memory of
/// the device with inputs.
class AsynchronousOutput {
public:
    virtual ~AsynchronousOutput() = default;

    /// Complete an output when its copies are done. Engines call it once for each output that has a next node, in
    /// the thread that calls that node, and pass on what it returns. It may wait for the device again.
    /// @throws Error, as the node itself
    virtual TensorSetPtr arrived(const TensorSetPtr& output, std::size_t /*port*/) const { return output; }
};

} // namespace spng
