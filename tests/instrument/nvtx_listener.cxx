// SPDX-License-Identifier: Apache-2.0
// A minimal NVTX tool, compiled by tests and loaded through NVTX_INJECTION64_PATH: writes one line for
// everything that it is told to standard output. Ranges of all domains nest in one stack per thread.

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace {

struct Domain {
    std::string name;
    std::map<std::uint32_t, std::string> categories;
};

struct RegisteredString {
    std::string text;
};

thread_local int t_depth = 0;
std::atomic<int> started = 0;

void write_line(const char* what, nvtxDomainHandle_t handle, const nvtxEventAttributes_t* event, int depth) {
    auto* const domain = reinterpret_cast<Domain*>(handle);
    const bool registered = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
    const char* const message =
        registered ? reinterpret_cast<RegisteredString*>(event->message.registered)->text.c_str()
                   : event->message.ascii;
    std::string payload = "none";
    if (event->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64) {
        payload = "u64:" + std::to_string(event->payload.ullValue);
    } else if (event->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT32) {
        payload = "u32:" + std::to_string(event->payload.uiValue);
    } else if (event->payloadType == NVTX_PAYLOAD_TYPE_INT32) {
        payload = "i32:" + std::to_string(event->payload.iValue);
    } else if (event->payloadType == NVTX_PAYLOAD_TYPE_INT64) {
        payload = "i64:" + std::to_string(event->payload.llValue);
    } else if (event->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE) {
        payload = "f64:" + std::to_string(event->payload.dValue).substr(0, 3);
    } else if (event->payloadType != NVTX_PAYLOAD_UNKNOWN) {
        payload = "other";
    }
    std::printf("%s %d [%s] %s%s category=%s colour=%08X payload=%s\n", what, depth, domain->name.c_str(),
                message, registered ? "" : " (not registered)", domain->categories[event->category].c_str(),
                event->color, payload.c_str());
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
    return reinterpret_cast<nvtxDomainHandle_t>(new Domain{name, {}});
}
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
    std::printf("register %s\n", text);
    static std::mutex mutex;
    static auto& strings = *new std::deque<RegisteredString>; // never destroyed; its elements do not move
    const std::lock_guard lock(mutex);
    return reinterpret_cast<nvtxStringHandle_t>(&strings.emplace_back(RegisteredString{text}));
}
void NVTX_API name_category(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) {
    reinterpret_cast<Domain*>(domain)->categories[category] = name;
}
int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    write_line("push", domain, event, t_depth);
    return t_depth++;
}
int NVTX_API pop(nvtxDomainHandle_t) {
    std::printf("pop %d\n", --t_depth);
    return t_depth;
}
nvtxRangeId_t NVTX_API start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    const int range = ++started;
    write_line("start", domain, event, range);
    return static_cast<nvtxRangeId_t>(range);
}
void NVTX_API end(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
    std::printf("end %d [%s]\n", static_cast<int>(range), reinterpret_cast<Domain*>(domain)->name.c_str());
}
void NVTX_API mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    write_line("mark", domain, event, t_depth);
}

template <class Function>
void install(NvtxFunctionTable table, unsigned size, unsigned index, Function function) {
    if (index < size) {
        *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
    }
}

} // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
    const auto* const callbacks =
        static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks == nullptr || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) {
        return 0;
    }
    install(table, size, NVTX_CBID_CORE2_DomainCreateA, &create_domain);
    install(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string);
    install(table, size, NVTX_CBID_CORE2_DomainNameCategoryA, &name_category);
    install(table, size, NVTX_CBID_CORE2_DomainRangePushEx, &push);
    install(table, size, NVTX_CBID_CORE2_DomainRangePop, &pop);
    install(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, &start);
    install(table, size, NVTX_CBID_CORE2_DomainRangeEnd, &end);
    install(table, size, NVTX_CBID_CORE2_DomainMarkEx, &mark);
    return 1;
}
