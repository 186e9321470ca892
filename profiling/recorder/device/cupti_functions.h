// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of CUPTI that the recorder calls. They are looked up at run time, because the recorder also runs
// on machines without CUPTI. The types come from the headers of CUDA 13; older libraries write records that
// begin with the same fields.

#include "profiling/recorder/device/driver_functions.h"

#include <cuda.h>
#include <cupti.h>

#include <string>

namespace spng::recorder {

/// Functions of CUPTI. Optional pointers may be null.
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
    decltype(&cuptiActivityEnableDriverApi) enable_driver_call =
        nullptr; ///< optional; if null, all are recorded
    decltype(&cuptiActivityFlushAll) flush = nullptr;
    decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
    decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
    decltype(&cuptiActivityPushExternalCorrelationId) push_correlation = nullptr;
    decltype(&cuptiActivityPopExternalCorrelationId) pop_correlation = nullptr;
    decltype(&cuptiGetGraphNodeId) graph_node_id = nullptr;

    /// Return the name of a result, "CUPTI_ERROR_...".
    std::string to_string(CUptiResult result) const;
};

struct CudaLibraries {
    DriverFunctions driver;
    CuptiFunctions cupti;
    bool has_driver = false; ///< the driver can be used, with or without CUPTI
    std::string problem;     ///< why a library cannot be used; empty if both can
    bool no_driver = false;  ///< the machine has no NVIDIA driver or no device
};

/// Load and start the driver, and load CUPTI. A copy of CUPTI that the process has loaded
/// already is preferred, because two copies in one process do not see each other's activity.
CudaLibraries load_cuda_libraries();

} // namespace spng::recorder
