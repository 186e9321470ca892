#pragma once
// The functions of CUPTI and of the CUDA driver that the recorder calls, found at run time: the recorder is
// loaded into programs on machines that have neither, so nothing links to them. The types are those of the
// headers of CUDA 13; older libraries write records that begin with the same fields.

#include <cuda.h>
#include <cupti.h>

#include <string>

namespace spng::recorder {

/// Pointers may be null where a comment says that they are optional.
struct CuptiFunctions {
    decltype(&cuptiGetVersion) get_version = nullptr;
    decltype(&cuptiGetResultString) result_string = nullptr;
    decltype(&cuptiSubscribe_v2) subscribe_naming = nullptr; ///< optional, CUDA 12.8
    decltype(&cuptiSubscribe) subscribe = nullptr;
    decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
    decltype(&cuptiEnableCallback) enable_callback = nullptr;
    decltype(&cuptiGetCallbackName) callback_name = nullptr;
    decltype(&cuptiGetTimestamp) timestamp = nullptr;
    decltype(&cuptiActivityRegisterTimestampCallback) set_clock = nullptr; ///< optional, CUDA 11.8
    decltype(&cuptiSetThreadIdType) set_thread_ids = nullptr;
    decltype(&cuptiActivityRegisterCallbacks) set_buffers = nullptr;
    decltype(&cuptiActivityEnable) enable = nullptr;
    decltype(&cuptiActivityDisable) disable = nullptr;
    decltype(&cuptiActivityEnableDriverApi) enable_driver_call = nullptr; ///< optional; else all are recorded
    decltype(&cuptiActivityFlushAll) flush = nullptr;
    decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
    decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
    decltype(&cuptiActivityPushExternalCorrelationId) push_correlation = nullptr;
    decltype(&cuptiActivityPopExternalCorrelationId) pop_correlation = nullptr;
    decltype(&cuptiGetGraphNodeId) graph_node_id = nullptr;

    /// "CUPTI_ERROR_..." of a result.
    std::string to_string(CUptiResult result) const;
};

struct DriverFunctions {
    decltype(&cuInit) init = nullptr;
    decltype(&cuDriverGetVersion) version = nullptr;
    decltype(&cuDeviceGetCount) device_count = nullptr;
    decltype(&cuDeviceGet) device = nullptr;
    decltype(&cuDeviceGetPCIBusId) bus_location = nullptr;
    decltype(&cuDevicePrimaryCtxGetState) primary_state = nullptr;
    decltype(&cuDevicePrimaryCtxRetain) primary_retain = nullptr;
    CUresult (*primary_release)(CUdevice) = nullptr;
    CUresult (*push_context)(CUcontext) = nullptr;
    CUresult (*pop_context)(CUcontext*) = nullptr;
    decltype(&cuCtxSynchronize) synchronize = nullptr;

    /// Wait until all devices have finished what they were given.
    void synchronize_all() const;
};

struct CudaLibraries {
    DriverFunctions driver;
    CuptiFunctions cupti;
    std::string problem;    ///< why one of them cannot be used; empty: both can
    bool no_driver = false; ///< the machine has no NVIDIA driver: there is nothing to record
};

/// The driver (libcuda.so.1, initialised here) and CUPTI: the copy that is loaded already, since two in one
/// process do not see each other, else the one that the loader finds.
CudaLibraries load_cuda_libraries();

} // namespace spng::recorder
