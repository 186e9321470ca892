#include "profiling/recorder/device/cupti_functions.h"

#include <dlfcn.h>
#include <initializer_list>

namespace spng::recorder {
namespace {

/// Symbols of one library; the first that is missing is remembered.
class Symbols {
public:
    explicit Symbols(void* library) : m_library(library) {}

    template <class Function>
    void need(Function& function, const char* name) {
        if (!find(function, name) && m_missing.empty()) {
            m_missing = name;
        }
    }
    template <class Function>
    bool find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(m_library, name));
        return function != nullptr;
    }
    const std::string& missing() const { return m_missing; }

private:
    void* m_library;
    std::string m_missing;
};

void* loaded_or_load(std::initializer_list<const char*> names) {
    for (const int mode : {RTLD_NOLOAD, 0}) {
        for (const char* const name : names) {
            if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL | mode)) {
                return library;
            }
        }
    }
    return nullptr;
}

std::string find_driver(void* library, DriverFunctions& driver) {
    Symbols symbols(library);
    symbols.need(driver.init, "cuInit");
    symbols.need(driver.version, "cuDriverGetVersion");
    symbols.need(driver.device_count, "cuDeviceGetCount");
    symbols.need(driver.device, "cuDeviceGet");
    symbols.need(driver.bus_location, "cuDeviceGetPCIBusId");
    symbols.need(driver.primary_state, "cuDevicePrimaryCtxGetState");
    symbols.need(driver.primary_retain, "cuDevicePrimaryCtxRetain");
    symbols.need(driver.primary_release, "cuDevicePrimaryCtxRelease_v2");
    symbols.need(driver.push_context, "cuCtxPushCurrent_v2");
    symbols.need(driver.pop_context, "cuCtxPopCurrent_v2");
    symbols.need(driver.synchronize, "cuCtxSynchronize");
    return symbols.missing();
}

std::string find_cupti(void* library, CuptiFunctions& cupti) {
    Symbols symbols(library);
    symbols.find(cupti.subscribe_naming, "cuptiSubscribe_v2");
    symbols.find(cupti.set_clock, "cuptiActivityRegisterTimestampCallback");
    symbols.find(cupti.enable_driver_call, "cuptiActivityEnableDriverApi");
    symbols.need(cupti.get_version, "cuptiGetVersion");
    symbols.need(cupti.result_string, "cuptiGetResultString");
    symbols.need(cupti.subscribe, "cuptiSubscribe");
    symbols.need(cupti.unsubscribe, "cuptiUnsubscribe");
    symbols.need(cupti.enable_callback, "cuptiEnableCallback");
    symbols.need(cupti.callback_name, "cuptiGetCallbackName");
    symbols.need(cupti.timestamp, "cuptiGetTimestamp");
    symbols.need(cupti.set_thread_ids, "cuptiSetThreadIdType");
    symbols.need(cupti.set_buffers, "cuptiActivityRegisterCallbacks");
    symbols.need(cupti.enable, "cuptiActivityEnable");
    symbols.need(cupti.disable, "cuptiActivityDisable");
    symbols.need(cupti.flush, "cuptiActivityFlushAll");
    symbols.need(cupti.next_record, "cuptiActivityGetNextRecord");
    symbols.need(cupti.dropped_records, "cuptiActivityGetNumDroppedRecords");
    symbols.need(cupti.push_correlation, "cuptiActivityPushExternalCorrelationId");
    symbols.need(cupti.pop_correlation, "cuptiActivityPopExternalCorrelationId");
    symbols.need(cupti.graph_node_id, "cuptiGetGraphNodeId");
    return symbols.missing();
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
        CUdevice number{};
        unsigned flags = 0;
        int active = 0;
        CUcontext context{};
        // Only devices that are in use: to ask for the context of another one would create it.
        if (device(&number, ordinal) == CUDA_SUCCESS &&
            primary_state(number, &flags, &active) == CUDA_SUCCESS && active != 0 &&
            primary_retain(&context, number) == CUDA_SUCCESS) {
            if (push_context(context) == CUDA_SUCCESS) {
                synchronize();
                pop_context(&context);
            }
            primary_release(number);
        }
    }
}

CudaLibraries load_cuda_libraries() {
    CudaLibraries found;
    void* const driver = loaded_or_load({"libcuda.so.1"});
    if (driver == nullptr) {
        found.problem = "no NVIDIA driver here (libcuda.so.1 is not found)";
        found.no_driver = true;
        return found;
    }
    if (const std::string missing = find_driver(driver, found.driver); !missing.empty()) {
        found.problem = "libcuda.so.1 has no " + missing;
        return found;
    }
    if (const CUresult result = found.driver.init(0); result != CUDA_SUCCESS) {
        found.no_driver = result == CUDA_ERROR_NO_DEVICE;
        found.problem = found.no_driver ? "no CUDA device here"
                                        : "the NVIDIA driver does not start (cuInit gives error " +
                                              std::to_string(result) + ")";
        return found;
    }
    void* const cupti = loaded_or_load({"libcupti.so.13", "libcupti.so.12"});
    if (cupti == nullptr) {
        found.problem = "CUPTI is not found (libcupti.so.13, libcupti.so.12)";
    } else if (const std::string missing = find_cupti(cupti, found.cupti); !missing.empty()) {
        found.problem = "this CUPTI is too old: it has no " + missing;
    }
    return found;
}

} // namespace spng::recorder
