// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of the CUDA runtime that c10 does not wrap, looked up in the runtime that LibTorch has loaded.
// Nothing is linked or loaded here; without CUDA all of it does nothing.

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

/// Null while no CUDA runtime is loaded in this process.
const CudaRuntime* cuda_runtime();

/// For tests: replace the result of cuda_runtime(); null restores the real one.
void replace_cuda_runtime(const CudaRuntime* runtime);

/// Handle of the device's current stream and its runtime; null for other devices and without a runtime.
struct CudaStream {
    const CudaRuntime* runtime = nullptr;
    void* handle = nullptr;
};
CudaStream current_cuda_stream(c10::Device device);

/// Whether the device's current stream is being captured into a CUDA graph. During a capture nothing may wait, and
/// events have no times. Does not wait.
bool is_capturing(c10::Device device);

} // namespace spng::instrument
