// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/device/cupti_functions.h"

#include "spng/core/shared_library.h"

#include <initializer_list>
#include <utility>

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

CudaLibraries load_cuda_libraries() {
    CudaLibraries found;
    LoadedDriver driver = load_driver();
    found.driver = driver.functions;
    found.problem = std::move(driver.problem);
    found.no_driver = driver.no_driver;
    if (!found.problem.empty()) {
        return found;
    }
    found.has_driver = true;
    const SharedLibrary cupti = loaded_or_load({"libcupti.so.13", "libcupti.so.12"});
    if (!cupti.is_open()) {
        found.problem = "CUPTI is not found (libcupti.so.13, libcupti.so.12)";
    } else if (const std::string missing = find_cupti(cupti, found.cupti); !missing.empty()) {
        found.problem = "this CUPTI is too old: it has no " + missing;
    }
    return found;
}

} // namespace spng::recorder
