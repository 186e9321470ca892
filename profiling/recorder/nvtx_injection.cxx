// SPDX-License-Identifier: Apache-2.0
// Functions that NVTX calls. NVTX_INJECTION64_PATH contains the path of this library. Each library of the
// program that uses NVTX loads it at its first NVTX call and gets its functions from here. Handles are
// integers, so that they are the same in all libraries: the id of a domain, the index of a string in the
// string table.

#include "profiling/recorder/autostart.h"
#include "profiling/recorder/recorder.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <bit>
#include <cstdint>
#include <cwchar>
#include <initializer_list>
#include <string>
#include <utility>

namespace spng::recorder {
namespace {

Recorder& recorder() {
    static Recorder& instance = Recorder::instance();
    return instance;
}

std::uint16_t domain_id(nvtxDomainHandle_t domain) {
    return static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(domain));
}

/// Return a text; empty for a null pointer. Wide text becomes UTF-8, with question marks for invalid code points.
std::string_view utf8(const char* text) {
    return text == nullptr ? "" : text;
}
std::string utf8(const wchar_t* text) {
    std::string narrowed;
    for (; text != nullptr && *text != L'\0'; ++text) {
        const auto code = static_cast<std::uint32_t>(*text);
        const auto put = [&](std::uint32_t byte) { narrowed += static_cast<char>(byte); };
        const auto follow = [&](int shift) { put(0x80 | (code >> shift & 0x3F)); };
        if (code < 0x80) {
            put(code);
        } else if (code < 0x800) {
            put(0xC0 | code >> 6), follow(0);
        } else if (code < 0xD800 || (code >= 0xE000 && code < 0x10000)) {
            put(0xE0 | code >> 12), follow(6), follow(0);
        } else if (code >= 0x10000 && code < 0x110000) {
            put(0xF0 | code >> 18), follow(12), follow(6), follow(0);
        } else {
            put('?');
        }
    }
    return narrowed;
}

/// Return the index of a name that is not registered.
StringId plain_name(ThreadBuffer& thread, std::string_view name) {
    static thread_local std::string scratch;
    return thread.intern(without_counters(name, scratch), recorder().strings());
}

void set_payload(NvtxRow& row, const nvtxEventAttributes_t& event) {
    const auto set = [&row](Payload kind, std::uint64_t bits) {
        row.payload_kind = kind;
        row.payload = bits;
    };
    switch (event.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        return set(Payload::uint64, event.payload.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64:
        return set(Payload::int64, static_cast<std::uint64_t>(event.payload.llValue));
    case NVTX_PAYLOAD_TYPE_DOUBLE:
        return set(Payload::float64, std::bit_cast<std::uint64_t>(event.payload.dValue));
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        return set(Payload::uint32, event.payload.uiValue);
    case NVTX_PAYLOAD_TYPE_INT32:
        return set(Payload::int32, static_cast<std::uint32_t>(event.payload.iValue));
    case NVTX_PAYLOAD_TYPE_FLOAT:
        return set(Payload::float32, std::bit_cast<std::uint32_t>(event.payload.fValue));
    default:
        return;
    }
}

NvtxRow make_row(ThreadBuffer& thread, std::uint16_t domain, const nvtxEventAttributes_t* event) {
    NvtxRow row;
    row.domain = domain;
    row.thread = thread.thread();
    if (event == nullptr) {
        return row;
    }
    row.category = event->category;
    row.colour = event->colorType == NVTX_COLOR_ARGB ? event->color : 0;
    set_payload(row, *event);
    switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_REGISTERED:
        row.name.index =
            static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(event->message.registered));
        row.registered_name = row.name.index != 0;
        break;
    case NVTX_MESSAGE_TYPE_ASCII:
        row.name = plain_name(thread, utf8(event->message.ascii));
        break;
    case NVTX_MESSAGE_TYPE_UNICODE:
        row.name = plain_name(thread, utf8(event->message.unicode));
        break;
    default:
        break;
    }
    return row;
}

NvtxRow make_row(ThreadBuffer& thread, std::string_view name) {
    NvtxRow row;
    row.thread = thread.thread();
    row.name = plain_name(thread, name);
    return row;
}

// ---- common implementation of all variants; without a session each is one load and one branch ----

template <class... Description>
int push(const Description&... description) {
    if (!recorder().is_active()) {
        return NVTX_NO_PUSH_POP_TRACKING;
    }
    ThreadBuffer& thread = recorder().thread();
    return thread.push(make_row(thread, description...), recorder().records_ranges());
}

int pop(std::uint16_t domain) {
    return recorder().is_active() ? recorder().thread().pop(domain) : NVTX_NO_PUSH_POP_TRACKING;
}

template <class... Description>
void mark(const Description&... description) {
    if (recorder().records_ranges()) {
        ThreadBuffer& thread = recorder().thread();
        if (!thread.muted()) {
            NvtxRow row = make_row(thread, description...);
            row.kind = NvtxKind::mark;
            row.has_end = false;
            row.start = now();
            thread.add(row);
        }
    }
}

template <class... Description>
nvtxRangeId_t start(const Description&... description) {
    if (!recorder().records_ranges()) {
        return 0;
    }
    ThreadBuffer& thread = recorder().thread();
    if (thread.muted()) {
        return 0;
    }
    NvtxRow row = make_row(thread, description...);
    row.kind = NvtxKind::start_end;
    row.start = now();
    return recorder().async_ranges().begin(row);
}

void end(nvtxRangeId_t id) {
    const TimePoint time = now();
    if (!recorder().is_active() || id == 0) {
        return;
    }
    ThreadBuffer& thread = recorder().thread();
    if (auto row = recorder().async_ranges().end(id)) {
        row->end = time;
        row->end_thread = thread.thread() == row->thread ? 0 : thread.thread();
        thread.add(*row);
    }
}

// ---- module CORE: the default domain ----

void NVTX_API mark_ex(const nvtxEventAttributes_t* event) {
    mark(std::uint16_t{0}, event);
}
template <class Letter>
void NVTX_API mark_text(const Letter* text) {
    mark(std::string_view(utf8(text)));
}
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* event) {
    return start(std::uint16_t{0}, event);
}
template <class Letter>
nvtxRangeId_t NVTX_API start_text(const Letter* text) {
    return start(std::string_view(utf8(text)));
}
void NVTX_API end_range(nvtxRangeId_t id) {
    end(id);
}
int NVTX_API push_ex(const nvtxEventAttributes_t* event) {
    return push(std::uint16_t{0}, event);
}
template <class Letter>
int NVTX_API push_text(const Letter* text) {
    return push(std::string_view(utf8(text)));
}
int NVTX_API pop_range() {
    return pop(0);
}
template <class Letter>
void NVTX_API name_category(std::uint32_t category, const Letter* name) {
    recorder().name_category(0, category, std::string(utf8(name)));
}
template <class Letter>
void NVTX_API name_thread(std::uint32_t thread, const Letter* name) {
    recorder().name_thread(thread, std::string(utf8(name)));
}

// ---- module CORE2: any domain ----

void NVTX_API domain_mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    mark(domain_id(domain), event);
}
nvtxRangeId_t NVTX_API domain_start_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    return start(domain_id(domain), event);
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) {
    end(id);
}
int NVTX_API domain_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    return push(domain_id(domain), event);
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) {
    return pop(domain_id(domain));
}
template <class Letter>
void NVTX_API domain_name_category(nvtxDomainHandle_t domain, std::uint32_t category, const Letter* name) {
    recorder().name_category(domain_id(domain), category, std::string(utf8(name)));
}
template <class Letter>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const Letter* text) {
    return reinterpret_cast<nvtxStringHandle_t>(std::uintptr_t{recorder().intern(utf8(text)).index});
}
template <class Letter>
nvtxDomainHandle_t NVTX_API create_domain(const Letter* name) {
    return reinterpret_cast<nvtxDomainHandle_t>(std::uintptr_t{recorder().domain(std::string(utf8(name)))});
}
// Several libraries may use a domain, so that its destruction by one library is ignored.
void NVTX_API destroy_domain(nvtxDomainHandle_t) {}
void NVTX_API initialise(const void*) {}

// ---- attaching ----

template <class Function>
std::pair<unsigned, NvtxFunctionPointer> entry(unsigned index, Function function) {
    return {index, reinterpret_cast<NvtxFunctionPointer>(function)};
}

/// Put the functions into the table of a module. Skip entries beyond its size, which an older NVTX does not
/// have.
bool install(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
             std::initializer_list<std::pair<unsigned, NvtxFunctionPointer>> entries) {
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0) {
        return false;
    }
    for (const auto& [index, function] : entries) {
        if (index < size && table[index] != nullptr) {
            *table[index] = function;
        }
    }
    return true;
}

} // namespace
} // namespace spng::recorder

extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
    using namespace spng::recorder;
    const auto* const callbacks =
        static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr) {
        return 0;
    }
    // Start first, because other threads use the functions as soon as they are in the table.
    start_from_environment();
    const bool core = install(
        *callbacks, NVTX_CB_MODULE_CORE,
        {entry(NVTX_CBID_CORE_MarkEx, &mark_ex), entry(NVTX_CBID_CORE_MarkA, &mark_text<char>),
         entry(NVTX_CBID_CORE_MarkW, &mark_text<wchar_t>), entry(NVTX_CBID_CORE_RangeStartEx, &start_ex),
         entry(NVTX_CBID_CORE_RangeStartA, &start_text<char>),
         entry(NVTX_CBID_CORE_RangeStartW, &start_text<wchar_t>), entry(NVTX_CBID_CORE_RangeEnd, &end_range),
         entry(NVTX_CBID_CORE_RangePushEx, &push_ex), entry(NVTX_CBID_CORE_RangePushA, &push_text<char>),
         entry(NVTX_CBID_CORE_RangePushW, &push_text<wchar_t>), entry(NVTX_CBID_CORE_RangePop, &pop_range),
         entry(NVTX_CBID_CORE_NameCategoryA, &name_category<char>),
         entry(NVTX_CBID_CORE_NameCategoryW, &name_category<wchar_t>),
         entry(NVTX_CBID_CORE_NameOsThreadA, &name_thread<char>),
         entry(NVTX_CBID_CORE_NameOsThreadW, &name_thread<wchar_t>)});
    const bool domains = install(*callbacks, NVTX_CB_MODULE_CORE2,
                                 {entry(NVTX_CBID_CORE2_DomainMarkEx, &domain_mark_ex),
                                  entry(NVTX_CBID_CORE2_DomainRangeStartEx, &domain_start_ex),
                                  entry(NVTX_CBID_CORE2_DomainRangeEnd, &domain_end),
                                  entry(NVTX_CBID_CORE2_DomainRangePushEx, &domain_push_ex),
                                  entry(NVTX_CBID_CORE2_DomainRangePop, &domain_pop),
                                  entry(NVTX_CBID_CORE2_DomainNameCategoryA, &domain_name_category<char>),
                                  entry(NVTX_CBID_CORE2_DomainNameCategoryW, &domain_name_category<wchar_t>),
                                  entry(NVTX_CBID_CORE2_DomainRegisterStringA, &register_string<char>),
                                  entry(NVTX_CBID_CORE2_DomainRegisterStringW, &register_string<wchar_t>),
                                  entry(NVTX_CBID_CORE2_DomainCreateA, &create_domain<char>),
                                  entry(NVTX_CBID_CORE2_DomainCreateW, &create_domain<wchar_t>),
                                  entry(NVTX_CBID_CORE2_DomainDestroy, &destroy_domain),
                                  entry(NVTX_CBID_CORE2_Initialize, &initialise)});
    if (!core && !domains) {
        return 0;
    }
    Recorder::instance().count_attachment();
    return 1;
}
