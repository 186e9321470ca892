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
    /// The work is called twice. The first call executes it, so that libraries create their handles and plans
    /// of this thread; they cannot do that during the capture. The work must not wait for the device. The
    /// tensors that it reads must keep their memory as long as the graph exists.
    /// @return the result of the second call: tensors whose memory belongs to the graph. They are valid after
    /// the first replay.
    /// @throws c10::Error if the device rejects the capture, and any exception of `work`; the graph is then
    /// unusable
    virtual std::vector<at::Tensor> capture(const Work& work) = 0;

    /// Queue the captured work on the current stream. Replays of one graph must not overlap on the device.
    virtual void replay() = 0;
};

using DeviceGraphMaker = std::unique_ptr<DeviceGraph> (*)(c10::Device device);

/// Set the function that makes graphs for devices of this type; null removes it. libWireCellSpngCuda.so sets
/// it for CUDA, tests for their fake device.
void set_device_graph_maker(c10::DeviceType type, DeviceGraphMaker maker);

/// Make an empty graph; null for devices without graphs.
std::unique_ptr<DeviceGraph> make_device_graph(c10::Device device);

} // namespace spng
