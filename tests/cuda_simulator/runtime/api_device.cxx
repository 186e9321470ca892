// SPDX-License-Identifier: Apache-2.0
// Devices, errors and versions.

#include "tests/cuda_simulator/runtime/call.h"
#include "tests/cuda_simulator/runtime/settings.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

using namespace cuda_simulator;

namespace {

constexpr int version = CUDART_VERSION;
constexpr int multiprocessors = 132, threads_of_multiprocessor = 2048;
constexpr std::size_t shared_bytes_by_default = 48 * 1024, max_shared_bytes = 227 * 1024;

struct ErrorText {
    cudaError_t error;
    const char *name, *text;
};
constexpr ErrorText error_strings[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
};

const ErrorText& summary_of(cudaError_t error) {
    for (const ErrorText& text : error_strings) {
        if (text.error == error) {
            return text;
        }
    }
    static const ErrorText other{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
    return other;
}

bool exists(int device) {
    return device >= 0 && device < settings().devices;
}

cudaError_t failed(cudaError_t error) {
    return thread_state().last_error = error;
}

} // namespace

CUDA_SIMULATOR_API cudaError_t cudaGetDeviceCount(int* count) {
    *count = settings().devices;
    return *count > 0 ? cudaSuccess : failed(cudaErrorNoDevice);
}

CUDA_SIMULATOR_API cudaError_t cudaGetDevice(int* device) {
    *device = thread_state().device;
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaSetDevice(int device) {
    if (!exists(device)) {
        return failed(cudaErrorInvalidDevice);
    }
    thread_state().device = device;
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (!exists(device)) {
        return failed(cudaErrorInvalidDevice);
    }
    cudaDeviceProp all{};
    cudaGetDeviceProperties(&all, device);
    switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
        *value = all.major;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = all.minor;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = all.multiProcessorCount;
        break;
    case cudaDevAttrMaxThreadsPerBlock:
        *value = all.maxThreadsPerBlock;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = static_cast<int>(all.sharedMemPerBlock);
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = static_cast<int>(all.sharedMemPerBlockOptin);
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = all.maxThreadsPerMultiProcessor;
        break;
    case cudaDevAttrWarpSize:
        *value = all.warpSize;
        break;
    case cudaDevAttrMaxGridDimX:
        *value = all.maxGridSize[0];
        break;
    case cudaDevAttrMaxGridDimY:
        *value = all.maxGridSize[1];
        break;
    case cudaDevAttrMaxGridDimZ:
        *value = all.maxGridSize[2];
        break;
    default:
        *value = 1; // a feature that the device has
    }
    return cudaSuccess;
}

/// A device like an H100. LibTorch takes sizes of launches from it.
CUDA_SIMULATOR_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* all, int device) {
    if (!exists(device)) {
        return failed(cudaErrorInvalidDevice);
    }
    *all = {};
    std::snprintf(all->name, sizeof all->name, "simulated device");
    all->totalGlobalMem = settings().seen_bytes;
    all->sharedMemPerBlock = shared_bytes_by_default;
    all->sharedMemPerBlockOptin = max_shared_bytes;
    all->sharedMemPerMultiprocessor = max_shared_bytes + 1024;
    all->regsPerBlock = all->regsPerMultiprocessor = 65536;
    all->warpSize = 32;
    all->maxThreadsPerBlock = all->maxThreadsDim[0] = all->maxThreadsDim[1] = 1024;
    all->maxThreadsDim[2] = 64;
    all->maxGridSize[0] = 2147483647;
    all->maxGridSize[1] = all->maxGridSize[2] = 65535;
    all->major = 9;
    all->multiProcessorCount = multiprocessors;
    all->maxThreadsPerMultiProcessor = threads_of_multiprocessor;
    all->maxBlocksPerMultiProcessor = 32;
    all->l2CacheSize = 50 << 20;
    all->unifiedAddressing = all->concurrentKernels = 1;
    all->asyncEngineCount = 3;
    all->textureAlignment = 512;
    all->memoryBusWidth = 5120;
    all->pciBusID = device + 1;
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
    std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0",
                  static_cast<unsigned>(device + 1));
    return exists(device) ? cudaSuccess : failed(cudaErrorInvalidDevice);
}

CUDA_SIMULATOR_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
    *can = 0;
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaDeviceSynchronize() {
    return call("cudaDeviceSynchronize_v3020", thread_state().device, InCapture::forbidden, [] {
        count_wait("cudaDeviceSynchronize_v3020");
        for (const auto& [id, capture] : state().captures) {
            capture->broken_by = "cudaDeviceSynchronize";
            return cudaErrorStreamCaptureUnsupported;
        }
        state().wait_for_device(thread_state().device);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaDriverGetVersion(int* release) {
    *release = version;
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaRuntimeGetVersion(int* release) {
    *release = version;
    return cudaSuccess;
}

CUDA_SIMULATOR_API const char* cudaGetErrorName(cudaError_t error) {
    return summary_of(error).name;
}

CUDA_SIMULATOR_API const char* cudaGetErrorString(cudaError_t error) {
    return summary_of(error).text;
}

CUDA_SIMULATOR_API cudaError_t cudaGetLastError() {
    const cudaError_t error = thread_state().last_error;
    thread_state().last_error = cudaSuccess;
    return error;
}

CUDA_SIMULATOR_API cudaError_t cudaPeekAtLastError() {
    return thread_state().last_error;
}

namespace {

/// In place of functions of the driver that the simulator does not have. LibTorch requires all of its table when it
/// uses one, for example for the error of exhausted memory.
int missing_driver_function() {
    report_defect("the program called a function of the driver that the simulator does not have");
    return 801; // CUDA_ERROR_NOT_SUPPORTED
}

} // namespace

CUDA_SIMULATOR_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                                unsigned long long,
                                                                cudaDriverEntryPointQueryResult* result) {
    static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    void* const found = driver == nullptr ? nullptr : dlsym(driver, name);
    *function = found != nullptr ? found : reinterpret_cast<void*>(&missing_driver_function);
    if (result != nullptr) {
        *result = cudaDriverEntryPointSuccess;
    }
    return cudaSuccess;
}
