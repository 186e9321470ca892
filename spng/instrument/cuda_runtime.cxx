// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/cuda_runtime.h"

#include "spng/core/shared_library.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <atomic>
#include <mutex>
#include <optional>

namespace spng::instrument {
namespace {

std::atomic<const CudaRuntime*> replacement{nullptr};

/// Find the functions in the runtime that LibTorch has loaded. Return nothing if one is missing.
std::optional<CudaRuntime> find_runtime() {
    const auto library = SharedLibrary::find_loaded({"libcudart.so.13", "libcudart.so.12"});
    if (!library.is_open()) {
        return std::nullopt;
    }
    CudaRuntime runtime;
    FunctionFinder finder(library);
    finder.find(runtime.event_create, "cudaEventCreateWithFlags");
    finder.find(runtime.event_destroy, "cudaEventDestroy");
    finder.find(runtime.event_record, "cudaEventRecordWithFlags");
    finder.find(runtime.event_query, "cudaEventQuery");
    finder.find(runtime.event_synchronize, "cudaEventSynchronize");
    finder.find(runtime.event_elapsed, "cudaEventElapsedTime");
    finder.find(runtime.stream_is_capturing, "cudaStreamIsCapturing");
    finder.find(runtime.profiler_start, "cudaProfilerStart");
    finder.find(runtime.profiler_stop, "cudaProfilerStop");
    return finder.missing().empty() ? std::optional(runtime) : std::nullopt;
}

} // namespace

const CudaRuntime* cuda_runtime() {
    if (const CudaRuntime* const replaced = replacement.load(std::memory_order_acquire)) {
        return replaced;
    }
    static std::atomic<const CudaRuntime*> found{nullptr};
    if (const CudaRuntime* const known = found.load(std::memory_order_acquire)) {
        return known;
    }
    // Repeat the search until the runtime is loaded, which happens when a job uses a CUDA device.
    static std::mutex mutex;
    static std::optional<CudaRuntime> runtime;
    const std::lock_guard lock(mutex);
    if (!runtime) {
        runtime = find_runtime();
    }
    if (runtime) {
        found.store(&*runtime, std::memory_order_release);
    }
    return found.load(std::memory_order_relaxed);
}

void replace_cuda_runtime(const CudaRuntime* runtime) {
    replacement.store(runtime, std::memory_order_release);
}

CudaStream current_cuda_stream(c10::Device device) {
    if (device.is_cpu() || !c10::impl::hasDeviceGuardImpl(device.type())) {
        return {};
    }
    const CudaRuntime* const runtime = cuda_runtime();
    if (runtime == nullptr || runtime->device_type != device.type()) {
        return {};
    }
    return {runtime, c10::impl::VirtualGuardImpl(device.type()).getStream(device).native_handle()};
}

bool is_capturing(c10::Device device) {
    const CudaStream stream = current_cuda_stream(device);
    int status = 0; // cudaStreamCaptureStatusNone
    return stream.runtime != nullptr && stream.runtime->stream_is_capturing(stream.handle, &status) == 0 &&
           status != 0;
}

} // namespace spng::instrument
