#include "spng/instrument/cuda_runtime.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <optional>

namespace spng::instrument {
namespace {

std::atomic<const CudaRuntime*> replacement{nullptr};

/// The runtime that is loaded already, by the versions that LibTorch comes with.
void* loaded_runtime() {
    for (const char* name : {"libcudart.so.13", "libcudart.so.12"}) {
        if (void* const library = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
            return library; // stays open: what it gave out is kept
        }
    }
    return nullptr;
}

template <class Function>
bool take(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

std::optional<CudaRuntime> find_runtime() {
    void* const library = loaded_runtime();
    CudaRuntime runtime;
    if (library == nullptr || !take(library, "cudaEventCreateWithFlags", runtime.event_create) ||
        !take(library, "cudaEventDestroy", runtime.event_destroy) ||
        !take(library, "cudaEventRecordWithFlags", runtime.event_record) ||
        !take(library, "cudaEventQuery", runtime.event_query) ||
        !take(library, "cudaEventSynchronize", runtime.event_synchronize) ||
        !take(library, "cudaEventElapsedTime", runtime.event_elapsed) ||
        !take(library, "cudaStreamIsCapturing", runtime.stream_is_capturing) ||
        !take(library, "cudaProfilerStart", runtime.profiler_start) ||
        !take(library, "cudaProfilerStop", runtime.profiler_stop)) {
        return std::nullopt;
    }
    return runtime;
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
    // Asked again until it is there: it is loaded when a job asks for a CUDA device.
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
