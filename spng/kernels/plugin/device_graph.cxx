// SPDX-License-Identifier: Apache-2.0
// CUDA graphs for spng/device/device_graph.h.

#include "spng/device/device_graph.h"

#include <cuda_runtime_api.h>

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

namespace spng {
namespace {

class CudaDeviceGraph : public DeviceGraph {
public:
    explicit CudaDeviceGraph(c10::Device device) : m_device(device) {}

    std::vector<at::Tensor> capture(const Work& work) override {
        // Do not capture on the caller's stream: other threads of this event, or threads that free
        // page-locked memory of an earlier one, queue on it. Streams of events are from the pool of normal
        // priority.
        const auto stream = c10::cuda::getStreamFromPool(/*isHighPriority=*/true, m_device.index());
        // Replays on other streams read the tensors that the caller's stream is still writing.
        c10::cuda::getCurrentCUDAStream(m_device.index()).synchronize();
        const c10::cuda::CUDAStreamGuard on_stream(stream);
        const at::cuda::MempoolId_t pool = at::cuda::graph_pool_handle();
        std::vector<at::Tensor> outputs;
        try {
            // Other threads may allocate and queue on other streams meanwhile.
            m_graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
            outputs = work();
        } catch (...) {
            try {
                end_capture(pool, stream);
            } catch (const c10::Error&) {
                // Expected: an interrupted capture ends with an error. The exception of `work` is more
                // useful.
            }
            throw;
        }
        end_capture(pool, stream);
        return outputs;
    }

    void replay() override {
        const c10::cuda::CUDAGuard on_device(m_device);
        m_graph.replay();
    }

private:
    /// Before a capture LibTorch writes the state of its random generator, on another stream each time.
    static void wait_for_generator(c10::cuda::CUDAStream stream) { stream.synchronize(); }

    /// End the capture for the stream and for LibTorch's allocators, even if the graph failed. If CUDA
    /// rejects the capture, capture_begin() and capture_end() throw before they notify the allocators, which
    /// would then keep a reference to this graph and never free memory again.
    void end_capture(at::cuda::MempoolId_t pool, c10::cuda::CUDAStream stream) {
        try {
            m_graph.capture_end();
            wait_for_generator(stream);
        } catch (const c10::Error&) {
            // If an allocator was notified before, this throws, and the graph's destructor releases the pool.
            const auto try_to_end = [](const auto& end) {
                try {
                    end();
                } catch (const c10::Error&) {
                }
            };
            try_to_end([&] {
                c10::cuda::CUDACachingAllocator::endAllocateToPool(m_device.index(), pool);
                c10::cuda::CUDACachingAllocator::releasePool(m_device.index(), pool);
            });
            try_to_end([&] {
                auto* const host = at::getHostAllocator(at::kCUDA);
                host->end_allocate_to_pool(pool);
                host->release_pool(pool);
            });
            try_to_end([&] { wait_for_generator(stream); });
            throw;
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
