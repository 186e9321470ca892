// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/cupti/call_ids.h"

#include <cupti.h>

#include <iterator>
#include <string_view>

namespace cuda_simulator {
namespace {

struct Call {
    const char* name;
    std::uint32_t id;
};

#define RUNTIME(name) {#name, CUPTI_RUNTIME_TRACE_CBID_##name}
#define DRIVER(name) {#name, CUPTI_DRIVER_TRACE_CBID_##name}

constexpr Call runtime_calls[] = {
    RUNTIME(cudaDeviceCanAccessPeer_v4000),
    RUNTIME(cudaDeviceEnablePeerAccess_v4000),
    RUNTIME(cudaDeviceGetAttribute_v5000),
    RUNTIME(cudaDeviceGetDefaultMemPool_v11020),
    RUNTIME(cudaDeviceGetPCIBusId_v4010),
    RUNTIME(cudaDeviceGetStreamPriorityRange_v5050),
    RUNTIME(cudaDeviceSynchronize_v3020),
    RUNTIME(cudaDriverGetVersion_v3020),
    RUNTIME(cudaEventCreate_v3020),
    RUNTIME(cudaEventCreateWithFlags_v3020),
    RUNTIME(cudaEventDestroy_v3020),
    RUNTIME(cudaEventElapsedTime_v12080),
    RUNTIME(cudaEventQuery_v3020),
    RUNTIME(cudaEventRecord_v3020),
    RUNTIME(cudaEventRecordWithFlags_v11010),
    RUNTIME(cudaEventSynchronize_v3020),
    RUNTIME(cudaFree_v3020),
    RUNTIME(cudaFreeAsync_v11020),
    RUNTIME(cudaFreeHost_v3020),
    RUNTIME(cudaFuncGetAttributes_v3020),
    RUNTIME(cudaFuncSetAttribute_v9000),
    RUNTIME(cudaGetDevice_v3020),
    RUNTIME(cudaGetDeviceCount_v3020),
    RUNTIME(cudaGetDeviceProperties_v12000),
    RUNTIME(cudaGetDriverEntryPointByVersion_v12050),
    RUNTIME(cudaGetErrorName_v6050),
    RUNTIME(cudaGetErrorString_v3020),
    RUNTIME(cudaGetLastError_v3020),
    RUNTIME(cudaGetSymbolAddress_v3020),
    RUNTIME(cudaGraphDebugDotPrint_v11030),
    RUNTIME(cudaGraphDestroy_v10000),
    RUNTIME(cudaGraphExecDestroy_v10000),
    RUNTIME(cudaGraphGetNodes_v10000),
    RUNTIME(cudaGraphInstantiateWithFlags_v11040),
    RUNTIME(cudaGraphLaunch_v10000),
    RUNTIME(cudaGraphNodeGetDependencies_v12030),
    RUNTIME(cudaHostAlloc_v3020),
    RUNTIME(cudaHostRegister_v4000),
    RUNTIME(cudaHostUnregister_v4000),
    RUNTIME(cudaIpcCloseMemHandle_v4010),
    RUNTIME(cudaIpcGetEventHandle_v4010),
    RUNTIME(cudaIpcGetMemHandle_v4010),
    RUNTIME(cudaIpcOpenEventHandle_v4010),
    RUNTIME(cudaIpcOpenMemHandle_v4010),
    RUNTIME(cudaLaunchCooperativeKernel_v9000),
    RUNTIME(cudaLaunchKernel_v7000),
    RUNTIME(cudaLaunchKernelExC_v11060),
    RUNTIME(cudaLibraryGetKernel_v12060),
    RUNTIME(cudaLibraryLoadData_v12060),
    RUNTIME(cudaMalloc_v3020),
    RUNTIME(cudaMallocAsync_v11020),
    RUNTIME(cudaMemGetInfo_v3020),
    RUNTIME(cudaMemPoolGetAttribute_v11020),
    RUNTIME(cudaMemPoolSetAccess_v11020),
    RUNTIME(cudaMemPoolSetAttribute_v11020),
    RUNTIME(cudaMemPoolTrimTo_v11020),
    RUNTIME(cudaMemcpy_v3020),
    RUNTIME(cudaMemcpy2DAsync_v3020),
    RUNTIME(cudaMemcpyAsync_v3020),
    RUNTIME(cudaMemcpyPeerAsync_v4000),
    RUNTIME(cudaMemcpyToSymbol_v3020),
    RUNTIME(cudaMemset_v3020),
    RUNTIME(cudaMemsetAsync_v3020),
    RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050),
    RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000),
    RUNTIME(cudaPeekAtLastError_v3020),
    RUNTIME(cudaPointerGetAttributes_v4000),
    RUNTIME(cudaProfilerStart_v4000),
    RUNTIME(cudaProfilerStop_v4000),
    RUNTIME(cudaRuntimeGetVersion_v3020),
    RUNTIME(cudaSetDevice_v3020),
    RUNTIME(cudaStreamAddCallback_v5000),
    RUNTIME(cudaStreamBeginCapture_v10000),
    RUNTIME(cudaStreamCreate_v3020),
    RUNTIME(cudaStreamCreateWithPriority_v5050),
    RUNTIME(cudaStreamDestroy_v5050),
    RUNTIME(cudaStreamEndCapture_v10000),
    RUNTIME(cudaStreamGetCaptureInfo_v12030),
    RUNTIME(cudaStreamIsCapturing_v10000),
    RUNTIME(cudaStreamQuery_v3020),
    RUNTIME(cudaStreamSynchronize_v3020),
    RUNTIME(cudaStreamWaitEvent_v3020),
    RUNTIME(cudaThreadExchangeStreamCaptureMode_v10010),
};

constexpr Call driver_calls[] = {
    DRIVER(cuLaunchKernel),       DRIVER(cuLaunchKernelEx),     DRIVER(cuGraphLaunch),
    DRIVER(cuMemcpyHtoDAsync_v2), DRIVER(cuMemcpyDtoHAsync_v2), DRIVER(cuMemcpyDtoDAsync_v2),
    DRIVER(cuMemsetD8Async),
};

#undef RUNTIME
#undef DRIVER

bool is_version_of(std::string_view name, std::string_view without_version) {
    return name.starts_with(without_version) && name.substr(without_version.size(), 2) == "_v";
}

} // namespace

std::uint32_t runtime_call_id(std::string_view name) {
    for (const Call& call : runtime_calls) {
        if (name == call.name || is_version_of(call.name, name)) {
            return call.id;
        }
    }
    return 0;
}

const char* runtime_call_name(std::uint32_t id) {
    for (const Call& call : runtime_calls) {
        if (id == call.id) {
            return call.name;
        }
    }
    return nullptr;
}

const char* driver_call_name(std::uint32_t id) {
    for (const Call& call : driver_calls) {
        if (id == call.id) {
            return call.name;
        }
    }
    return nullptr;
}

} // namespace cuda_simulator
