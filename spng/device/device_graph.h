#pragma once
// Work on a device, recorded once and launched as one: for a CUDA device a CUDA graph. What a graph launches
// is fixed: the same operations on the same memory.

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

    /// Record what `work` queues on the device, on a stream that nothing else uses, without doing it. Once
    /// per graph. The work is called twice, the first time to be done: libraries have handles and plans for
    /// each thread, which cannot be made while it is recorded. It must wait for nothing, and what it reads
    /// must stay where it is as long as the graph lives.
    /// @return what `work` returned the second time: tensors whose memory belongs to the graph, and which
    ///         hold nothing before the first replay
    /// Throws what `work` throws, and c10::Error when the device rejects; the graph is then of no use.
    virtual std::vector<at::Tensor> capture(const Work& work) = 0;

    /// Queue the recorded work on the current stream. Replays of one graph must not overlap on the device.
    virtual void replay() = 0;
};

using DeviceGraphMaker = std::unique_ptr<DeviceGraph> (*)(c10::Device device);

/// libWireCellSpngCuda.so says how graphs are made for CUDA devices; tests, for the device they have. Null
/// takes it back.
void set_device_graph_maker(c10::DeviceType type, DeviceGraphMaker maker);

/// Null for devices that have no graphs.
std::unique_ptr<DeviceGraph> make_device_graph(c10::Device device);

} // namespace spng
