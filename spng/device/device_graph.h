// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device work that is captured once and launched as one unit: a CUDA graph on a CUDA device. A graph always
// launches the same operations on the same memory.

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <functional>
#include <memory>
#include <vector>

namespace spng {

class DeviceGraph {
public:
    using Work = std::function<std::vector<at::Tensor>()>;

    virtual ~DeviceGraph() = default;

    /// Capture the operations that `work` queues on the device, on a stream that nothing else uses, without
    /// executing them. Call it once per graph.
    ///
    /// The same thread must have executed the work before: during a capture libraries cannot create their
    /// handles and plans, which belong to a thread. The work must not wait for the device. The tensors that it
    /// reads must keep their memory as long as the graph exists.
    ///
    /// A capture takes fresh memory of the device. It cannot use memory that the allocator keeps for reuse, and
    /// the allocator returns none of that while a capture is under way: if memory runs out, call
    /// release_cached_memory() and try again with another graph.
    /// @return the result of the work: tensors whose memory belongs to the graph. They are valid after the first
    /// replay.
    /// @throws c10::Error if the device rejects the capture, and any exception of `work`; the graph is then
    /// unusable
    virtual std::vector<at::Tensor> capture(const Work& work) = 0;

    /// Queue the captured work on the current stream. Replays of one graph must not overlap on the device.
    virtual void replay() = 0;
};

/// True while this thread captures. Code that handles exhausted memory by itself passes the failure on then.
bool is_capturing();

/// Makes is_capturing() true for this thread as long as it lives.
class CapturingThread {
public:
    CapturingThread();
    ~CapturingThread();
    CapturingThread(const CapturingThread&) = delete;
    CapturingThread& operator=(const CapturingThread&) = delete;
};

using DeviceGraphMaker = std::unique_ptr<DeviceGraph> (*)(c10::Device device);

/// Set the function that makes graphs for devices of this type; null removes it. libWireCellSpngCuda.so sets
/// it for CUDA, tests for their fake device.
void set_device_graph_maker(c10::DeviceType type, DeviceGraphMaker maker);

/// Make an empty graph; null for devices without graphs.
std::unique_ptr<DeviceGraph> make_device_graph(c10::Device device);

} // namespace spng
