#pragma once
// The few functions of the CUDA runtime that c10 has no name for, found in the runtime that LibTorch has
// loaded. Nothing is linked or loaded here, so that all of it works, and does nothing, where there is no
// CUDA.

#include <c10/core/Device.h>

namespace spng::instrument {

/// Pointers to functions of the runtime's stable C interface. A result that is not 0 is a cudaError_t.
struct CudaRuntime {
    c10::DeviceType device_type = c10::DeviceType::CUDA;         ///< tests put another one in
    int (*event_create)(void** event, unsigned flags) = nullptr; ///< cudaEventCreateWithFlags
    int (*event_destroy)(void* event) = nullptr;
    int (*event_record)(void* event, void* stream, unsigned flags) = nullptr; ///< cudaEventRecordWithFlags
    int (*event_query)(void* event) = nullptr;
    int (*event_synchronize)(void* event) = nullptr;
    int (*event_elapsed)(float* milliseconds, void* begin, void* end) = nullptr;
    int (*stream_is_capturing)(void* stream, int* status) = nullptr;
    int (*profiler_start)() = nullptr;
    int (*profiler_stop)() = nullptr;
};

inline constexpr unsigned cuda_event_record_external = 1; ///< the event becomes a node of the graph
inline constexpr int cuda_not_ready = 600;                ///< cudaErrorNotReady, of event_query
inline constexpr int cuda_invalid_handle = 400;           ///< cudaErrorInvalidResourceHandle: no time yet

/// Null as long as no CUDA runtime is loaded in this process.
const CudaRuntime* cuda_runtime();

/// For tests: answer with this from now on; null goes back to the real one.
void replace_cuda_runtime(const CudaRuntime* runtime);

/// The handle of the device's current stream and the runtime it belongs to; null where the device is no CUDA
/// device or no runtime is loaded.
struct CudaStream {
    const CudaRuntime* runtime = nullptr;
    void* handle = nullptr;
};
CudaStream current_cuda_stream(c10::Device device);

/// Whether the device's current stream is being captured into a graph: then nothing may wait, and an event
/// has a time only after the graph was launched. Never waits itself.
bool is_capturing(c10::Device device);

} // namespace spng::instrument
