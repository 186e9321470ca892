// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/ranges.h"

#include <vector>

#if defined(SPNG_NVTX) && SPNG_NVTX

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <mutex>
#include <set>

#endif

namespace cuda_simulator {
namespace {

std::vector<const std::string*>& open_ranges() {
    static thread_local std::vector<const std::string*> open;
    return open;
}

} // namespace

const std::string& current_range() {
    static const std::string none;
    return open_ranges().empty() ? none : *open_ranges().back();
}

#if defined(SPNG_NVTX) && SPNG_NVTX

namespace {

/// Return a name that stays where it is.
const std::string* kept(const char* name) {
    static auto& names = *new std::set<std::string>;
    static auto& mutex = *new std::mutex;
    const std::lock_guard lock(mutex);
    return &*names.insert(name == nullptr ? "" : name).first;
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
    return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(kept(text)));
}

int NVTX_API push(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
    const bool is_registered = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
    open_ranges().push_back(
        is_registered ? reinterpret_cast<const std::string*>(event->message.registered)
                      : kept(event->messageType == NVTX_MESSAGE_TYPE_ASCII ? event->message.ascii : ""));
    return static_cast<int>(open_ranges().size()) - 1;
}

int NVTX_API pop(nvtxDomainHandle_t) {
    if (open_ranges().empty()) {
        return NVTX_NO_PUSH_POP_TRACKING;
    }
    open_ranges().pop_back();
    return static_cast<int>(open_ranges().size());
}

} // namespace

#endif

} // namespace cuda_simulator

#if defined(SPNG_NVTX) && SPNG_NVTX

/// Called by NVTX at the first range of each library of the program.
extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
    using namespace cuda_simulator;
    const auto* const callbacks =
        static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
        return 0;
    }
    *table[NVTX_CBID_CORE2_DomainRegisterStringA] = reinterpret_cast<NvtxFunctionPointer>(&register_string);
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(&push);
    *table[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(&pop);
    return 1;
}

#endif
