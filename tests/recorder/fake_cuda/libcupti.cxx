// SPDX-License-Identifier: Apache-2.0
// A CUPTI without a device: it checks the calls that it gets, and the program puts the records into its
// buffers (fake_put, fake_deliver). Environment: FAKE_BUSY, FAKE_FORBIDDEN, FAKE_OWN_CLOCK, FAKE_DROPPED.
#include <cupti.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
CUpti_CallbackFunc callback = nullptr;
CUpti_TimestampCallbackFunc program_clock = nullptr;
std::vector<std::vector<std::uint8_t>> records;
bool enabled[CUPTI_ACTIVITY_KIND_COUNT]{};
bool graph_events = false;
std::size_t dropped = 0;
thread_local std::vector<std::uint64_t> external;

bool is_set(const char* name) {
    return std::getenv(name) != nullptr;
}

[[noreturn]] void wrong(const char* what) {
    std::fprintf(stderr, "fake CUPTI: %s\n", what);
    std::abort();
}

} // namespace

extern "C" {
CUptiResult cuptiGetVersion(std::uint32_t* version) {
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
    *text =
        result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR";
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function, void*,
                              CUpti_SubscriberParams* parameters) {
    if (is_set("FAKE_BUSY")) {
        std::strncpy(parameters->oldSubscriberName, "Other Profiler", parameters->oldSubscriberSize);
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    callback = function;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&callback);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
    wrong("the older cuptiSubscribe was used");
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
    callback = nullptr;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                CUpti_CallbackId) {
    graph_events = on != 0;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
    static char text[64];
    const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    if (runtime && id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000) {
        *name = "cudaLaunchKernel_v7000";
    } else if (!runtime && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
        *name = "cuLaunchKernel";
    } else {
        std::snprintf(text, sizeof text, "%s%u", runtime ? "cuda" : "cu", id);
        *name = text;
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    *time = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec) +
            5'000'000'000'000'000;
    if (!is_set("FAKE_OWN_CLOCK")) {
        *time = program_clock == nullptr ? 0 : program_clock();
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
    if (is_set("FAKE_OWN_CLOCK")) {
        return CUPTI_ERROR_NOT_SUPPORTED;
    }
    for (const bool on : enabled) {
        if (on) {
            wrong("the clock came after a kind of activity");
        }
    }
    program_clock = function;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
    return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc on_request,
                                           CUpti_BuffersCallbackCompleteFunc on_complete) {
    request = on_request;
    complete = on_complete;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    if (request == nullptr) {
        wrong("a kind of activity came before the buffers");
    }
    if (kind == CUPTI_ACTIVITY_KIND_KERNEL) {
        wrong("this kind makes kernels wait for each other");
    }
    if (is_set("FAKE_FORBIDDEN")) {
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    }
    enabled[kind] = true;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    enabled[kind] = false;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t on) {
    if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
        enabled[CUPTI_ACTIVITY_KIND_DRIVER] = on != 0;
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t id) {
    external.push_back(id);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t* id) {
    if (external.empty()) {
        return CUPTI_ERROR_QUEUE_EMPTY;
    }
    *id = external.back();
    external.pop_back();
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
    *id = reinterpret_cast<std::uint64_t>(node);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* count) {
    *count = dropped;
    dropped = 0;
    return CUPTI_SUCCESS;
}

// ---- functions for the program ----

/// Add a record. Like CUPTI, skip kinds that are not enabled.
void fake_put(const void* record, std::size_t size, CUpti_ActivityKind kind) {
    if (enabled[kind]) {
        records.emplace_back(size);
        std::memcpy(records.back().data(), record, size);
    }
}
/// Return the id of the open node call, 0 for none.
std::uint64_t fake_external() {
    return external.empty() ? 0 : external.back();
}
void fake_graph_node(CUpti_CallbackId event, std::uint64_t node, std::uint64_t original) {
    if (callback != nullptr && graph_events) {
        CUpti_GraphData graph{};
        graph.node = reinterpret_cast<CUgraphNode>(node);
        graph.originalNode = reinterpret_cast<CUgraphNode>(original);
        CUpti_ResourceData resource{};
        resource.resourceDescriptor = &graph;
        callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, event, &resource);
    }
}
/// Deliver a buffer with the records.
void fake_deliver() {
    if (complete == nullptr || records.empty()) {
        return;
    }
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, max_records = 0;
    request(&buffer, &size, &max_records);
    if (reinterpret_cast<std::uintptr_t>(buffer) % 8 != 0 || size < (8u << 20)) {
        wrong("a buffer is too small, or not aligned");
    }
    std::size_t used = 0;
    for (const auto& record : records) {
        std::memcpy(buffer + used, record.data(), record.size());
        used += record.size();
    }
    records.clear();
    if (const char* const text = std::getenv("FAKE_DROPPED")) {
        dropped = static_cast<std::size_t>(std::atoi(text));
    }
    complete(nullptr, 0, buffer, size, used);
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
    if (flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) {
        fake_deliver();
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
    const auto size_of = [](const CUpti_Activity* one) -> std::size_t {
        switch (one->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return sizeof(CUpti_ActivityKernel10);
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return sizeof(CUpti_ActivityMemcpy6);
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            return sizeof(CUpti_ActivityMemcpyPtoP4);
        case CUPTI_ACTIVITY_KIND_MEMSET:
            return sizeof(CUpti_ActivityMemset4);
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
            return sizeof(CUpti_ActivitySynchronization2);
        case CUPTI_ACTIVITY_KIND_OVERHEAD:
            return sizeof(CUpti_ActivityOverhead3);
        case CUPTI_ACTIVITY_KIND_MEMORY2:
            return sizeof(CUpti_ActivityMemory4);
        case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
            return sizeof(CUpti_ActivityGraphTrace2);
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            return sizeof(CUpti_ActivityExternalCorrelation);
        case CUPTI_ACTIVITY_KIND_CONTEXT:
            return sizeof(CUpti_ActivityContext3);
        case CUPTI_ACTIVITY_KIND_STREAM:
            return sizeof(CUpti_ActivityStream);
        default:
            return sizeof(CUpti_ActivityAPI);
        }
    };
    std::uint8_t* const next =
        *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + size_of(*record);
    if (next >= buffer + valid) {
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}
}
