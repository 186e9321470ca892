// CUDA graphs for spng/device/device_graph.h.

#include "spng/device/device_graph.h"

#include <cuda_runtime_api.h>

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

namespace spng {
namespace {

class CudaDeviceGraph : public DeviceGraph {
public:
    explicit CudaDeviceGraph(c10::Device device) : m_device(device) {}

    std::vector<at::Tensor> capture(const Work& work) override {
        // Not the caller's stream: threads that work on the same event, or give page-locked memory of an
        // earlier one back, queue on that. Events' streams are from the pool of normal priority.
        const auto stream = c10::cuda::getStreamFromPool(/*isHighPriority=*/true, m_device.index());
        at::cuda::CUDAEvent before;
        before.record(c10::cuda::getCurrentCUDAStream(m_device.index()));
        const c10::cuda::CUDAStreamGuard on_stream(stream);
        before.block(stream);
        work();
        stream.synchronize();
        // A recording takes its memory from the device alone, not from what LibTorch keeps for later.
        c10::cuda::CUDACachingAllocator::emptyCache();
        const at::cuda::MempoolId_t pool = at::cuda::graph_pool_handle();
        std::vector<at::Tensor> outputs;
        try {
            // Other threads go on allocating and queueing on other streams meanwhile.
            m_graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
            outputs = work();
        } catch (...) {
            try {
                end_capture(pool);
            } catch (const c10::Error&) {
                // Expected: a capture that was broken off ends with an error, and what `work` threw says
                // more.
            }
            throw;
        }
        end_capture(pool);
        return outputs;
    }

    void replay() override {
        const c10::cuda::CUDAGuard on_device(m_device);
        m_graph.replay();
    }

private:
    /// Neither the stream nor LibTorch's allocators must stay in capture, whatever became of the graph: when
    /// CUDA rejects the capture, capture_begin() and capture_end() throw before they tell them, and they
    /// would keep a reference to this graph and give no memory back any more.
    void end_capture(at::cuda::MempoolId_t pool) {
        try {
            m_graph.capture_end();
        } catch (const c10::Error&) {
            // Released only by who ended it: what was told already is released by the graph's destructor.
            const auto tell = [](const auto& allocator) {
                try {
                    allocator();
                } catch (const c10::Error&) {
                }
            };
            tell([&] {
                c10::cuda::CUDACachingAllocator::endAllocateToPool(m_device.index(), pool);
                c10::cuda::CUDACachingAllocator::releasePool(m_device.index(), pool);
            });
            tell([&] {
                auto* const host = at::getHostAllocator(at::kCUDA);
                host->end_allocate_to_pool(pool);
                host->release_pool(pool);
            });
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
