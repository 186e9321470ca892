// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/device/cupti_functions.h"

#include "spng/core/shared_library.h"

#include <initializer_list>

namespace spng::recorder {
namespace {

/// Return the first of these libraries that the process has loaded already, else the first that loads.
SharedLibrary loaded_or_load(std::initializer_list<const char*> names) {
    SharedLibrary library = SharedLibrary::find_loaded(names);
    for (const char* const name : names) {
        if (!library.is_open()) {
            library = SharedLibrary(name);
        }
    }
    return library;
}

std::string find_driver(const SharedLibrary& library, DriverFunctions& driver) {
    FunctionFinder finder(library);
    finder.find(driver.init, "cuInit");
    finder.find(driver.version, "cuDriverGetVersion");
    finder.find(driver.device_count, "cuDeviceGetCount");
    finder.find(driver.device, "cuDeviceGet");
    finder.find(driver.bus_location, "cuDeviceGetPCIBusId");
    finder.find(driver.primary_state, "cuDevicePrimaryCtxGetState");
    finder.find(driver.primary_retain, "cuDevicePrimaryCtxRetain");
    finder.find(driver.primary_release, "cuDevicePrimaryCtxRelease_v2");
    finder.find(driver.push_context, "cuCtxPushCurrent_v2");
    finder.find(driver.pop_context, "cuCtxPopCurrent_v2");
    finder.find(driver.synchronize, "cuCtxSynchronize");
    return finder.missing();
}

std::string find_cupti(const SharedLibrary& library, CuptiFunctions& cupti) {
    FunctionFinder finder(library);
    finder.find_optional(cupti.subscribe_naming, "cuptiSubscribe_v2");
    finder.find_optional(cupti.set_clock, "cuptiActivityRegisterTimestampCallback");
    finder.find_optional(cupti.enable_driver_call, "cuptiActivityEnableDriverApi");
    finder.find(cupti.get_version, "cuptiGetVersion");
    finder.find(cupti.result_string, "cuptiGetResultString");
    finder.find(cupti.subscribe, "cuptiSubscribe");
    finder.find(cupti.unsubscribe, "cuptiUnsubscribe");
    finder.find(cupti.enable_callback, "cuptiEnableCallback");
    finder.find(cupti.callback_name, "cuptiGetCallbackName");
    finder.find(cupti.timestamp, "cuptiGetTimestamp");
    finder.find(cupti.set_thread_ids, "cuptiSetThreadIdType");
    finder.find(cupti.set_buffers, "cuptiActivityRegisterCallbacks");
    finder.find(cupti.enable, "cuptiActivityEnable");
    finder.find(cupti.disable, "cuptiActivityDisable");
    finder.find(cupti.flush, "cuptiActivityFlushAll");
    finder.find(cupti.next_record, "cuptiActivityGetNextRecord");
    finder.find(cupti.dropped_records, "cuptiActivityGetNumDroppedRecords");
    finder.find(cupti.push_correlation, "cuptiActivityPushExternalCorrelationId");
    finder.find(cupti.pop_correlation, "cuptiActivityPopExternalCorrelationId");
    finder.find(cupti.graph_node_id, "cuptiGetGraphNodeId");
    return finder.missing();
}

} // namespace

std::string CuptiFunctions::to_string(CUptiResult result) const {
    const char* text = nullptr;
    const bool known = result_string(result, &text) == CUPTI_SUCCESS && text != nullptr;
    return known ? text : "CUPTI error " + std::to_string(result);
}

void DriverFunctions::synchronize_all() const {
    int count = 0;
    if (device_count(&count) != CUDA_SUCCESS) {
        return;
    }
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        CUdevice handle{};
        unsigned flags = 0;
        int active = 0;
        CUcontext context{};
        // Skip devices that are not in use: retaining their primary context would create it.
        if (device(&handle, ordinal) == CUDA_SUCCESS &&
            primary_state(handle, &flags, &active) == CUDA_SUCCESS && active != 0 &&
            primary_retain(&context, handle) == CUDA_SUCCESS) {
            if (push_context(context) == CUDA_SUCCESS) {
                synchronize();
                pop_context(&context);
            }
            primary_release(handle);
        }
    }
}

CudaLibraries load_cuda_libraries() {
    CudaLibraries found;
    const SharedLibrary driver("libcuda.so.1");
    if (!driver.is_open()) {
        found.problem = "no NVIDIA driver (libcuda.so.1 is not found)";
        found.no_driver = true;
        return found;
    }
    if (const std::string missing = find_driver(driver, found.driver); !missing.empty()) {
        found.problem = "libcuda.so.1 has no " + missing;
        return found;
    }
    if (const CUresult result = found.driver.init(0); result != CUDA_SUCCESS) {
        found.no_driver = result == CUDA_ERROR_NO_DEVICE;
        found.problem = found.no_driver ? "no CUDA device"
                                        : "the NVIDIA driver does not start (cuInit gives error " +
                                              std::to_string(result) + ")";
        return found;
    }
    const SharedLibrary cupti = loaded_or_load({"libcupti.so.13", "libcupti.so.12"});
    if (!cupti.is_open()) {
        found.problem = "CUPTI is not found (libcupti.so.13, libcupti.so.12)";
    } else if (const std::string missing = find_cupti(cupti, found.cupti); !missing.empty()) {
        found.problem = "this CUPTI is too old: it has no " + missing;
    }
    return found;
}

} // namespace spng::recorder
