// CUDA graphs for spng/device/device_graph.h.

#include "spng/device/device_graph.h"

#include <cuda_runtime_api.h>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>

namespace spng {
namespace {

class CudaDeviceGraph : public DeviceGraph {
public:
    explicit CudaDeviceGraph(c10::Device device) : m_device(device) {}

    std::vector<at::Tensor> capture(const Work& work) override {
        const c10::cuda::CUDAGuard on_device(m_device);
        // Other threads go on allocating and queueing on other streams meanwhile.
        m_graph.capture_begin(/*pool=*/{0, 0}, cudaStreamCaptureModeThreadLocal);
        std::vector<at::Tensor> outputs;
        try {
            outputs = work();
        } catch (...) {
            leave_capture();
            throw;
        }
        m_graph.capture_end();
        return outputs;
    }

    void replay() override {
        const c10::cuda::CUDAGuard on_device(m_device);
        m_graph.replay();
    }

private:
    /// The stream must not stay in capture, whatever became of the graph.
    void leave_capture() {
        try {
            m_graph.capture_end();
        } catch (const c10::Error&) {
            // Expected: a capture that was broken off ends with an error, and what `work` threw says more.
        }
    }

    c10::Device m_device;
    at::cuda::CUDAGraph m_graph;
};

[[maybe_unused]] const bool is_registered = [] {
    set_device_graph_maker(c10::DeviceType::CUDA, [](c10::Device device) -> std::unique_ptr<DeviceGraph> {
        return std::make_unique<CudaDeviceGraph>(device);
    });
    return true;
}();

} // namespace
} // namespace spng
