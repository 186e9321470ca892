// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/cupti/activity.h"

#include "tests/cuda_simulator/cupti/call_ids.h"

#include <algorithm>
#include <ctime>
#include <pthread.h>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace cuda_simulator {
namespace {

constexpr std::uint32_t default_stream = 7;
constexpr std::uint32_t none = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
constexpr std::uint16_t registers_per_thread = 32; // of every kernel, as cudaFuncGetAttributes reports

thread_local std::map<CUpti_ExternalCorrelationKind, std::vector<std::uint64_t>> t_external;

std::uint64_t monotonic_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint32_t context_of(int device) {
    return static_cast<std::uint32_t>(device) + 1;
}

/// Set the fields that the records of all operations have.
template <class Record>
Record device_record(CUpti_ActivityKind kind, const OperationRecord& operation) {
    Record record{};
    record.kind = kind;
    record.deviceId = static_cast<std::uint32_t>(operation.device);
    record.contextId = context_of(operation.device);
    record.streamId = operation.stream;
    record.correlationId = operation.correlation;
    record.graphNodeId = operation.graph_node;
    record.graphId = operation.graph;
    return record;
}

/// Return the driver function that a runtime function calls inside, with the same correlation id; 0: none that
/// starts work on a device.
std::uint32_t driver_call_inside(std::uint32_t runtime_call) {
    switch (runtime_call) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000:
        return CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060:
        return CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000:
        return CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch;
    case CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020:
        return CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async;
    default:
        return 0;
    }
}

} // namespace

Activity& Activity::instance() {
    static auto* const only = new Activity;
    return *only;
}

CUptiResult Activity::enable(CUpti_ActivityKind kind, bool on) {
    if (!m_buffers.has_callbacks()) {
        return CUPTI_ERROR_NOT_INITIALIZED;
    }
    bool any = false;
    {
        const std::lock_guard lock(m_mutex);
        if (on) {
            m_kinds.insert(kind);
        } else {
            m_kinds.erase(kind);
        }
        any = !m_kinds.empty();
    }
    set_observer(any ? this : nullptr); // not under the lock: the runtime calls with its own lock held
    return CUPTI_SUCCESS;
}

void Activity::enable_call(CUpti_ActivityKind kind, std::uint32_t id, bool on) {
    const std::lock_guard lock(m_mutex);
    if (on) {
        m_calls.emplace(kind, id);
    } else {
        m_calls.erase({kind, id});
    }
}

bool Activity::records_call(CUpti_ActivityKind kind, std::uint32_t id) const {
    return records(kind) || m_calls.count({kind, id}) != 0;
}

CUptiResult Activity::set_clock(CUpti_TimestampCallbackFunc clock) {
    const std::lock_guard lock(m_mutex);
    if (!m_kinds.empty()) {
        return CUPTI_ERROR_INVALID_OPERATION; // as documented: before any kind of activity
    }
    m_clock = clock;
    m_clock_offset = clock == nullptr ? 0 : clock() - monotonic_now();
    // The clock of most programs is CLOCK_MONOTONIC: the offset is the time between the two readings.
    constexpr std::uint64_t same = 1'000'000;
    if (m_clock_offset + same < 2 * same) {
        m_clock_offset = 0;
    }
    return CUPTI_SUCCESS;
}

std::uint64_t Activity::now() const {
    return m_clock == nullptr ? monotonic_now() : m_clock();
}

void Activity::use_system_thread_ids(bool on) {
    const std::lock_guard lock(m_mutex);
    m_system_thread_ids = on;
}

std::uint32_t Activity::thread_id() const {
    return m_system_thread_ids ? static_cast<std::uint32_t>(gettid())
                               : static_cast<std::uint32_t>(pthread_self());
}

CUptiResult Activity::push_external(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
    t_external[kind].push_back(id);
    return CUPTI_SUCCESS;
}

CUptiResult Activity::pop_external(CUpti_ExternalCorrelationKind kind, std::uint64_t* id) {
    auto& ids = t_external[kind];
    if (ids.empty()) {
        return CUPTI_ERROR_QUEUE_EMPTY;
    }
    if (id != nullptr) {
        *id = ids.back();
    }
    ids.pop_back();
    return CUPTI_SUCCESS;
}

void Activity::flush(bool all) {
    if (all) {
        const std::lock_guard lock(m_mutex);
        add_graph_traces();
    }
    m_buffers.deliver(all);
}

CUptiResult Activity::subscribe(CUpti_CallbackFunc function, void* data, const char* name) {
    const std::lock_guard lock(m_mutex);
    if (m_callback != nullptr) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    m_callback = function;
    m_callback_data = data;
    m_subscriber = name == nullptr ? "" : name;
    return CUPTI_SUCCESS;
}

void Activity::unsubscribe() {
    const std::lock_guard lock(m_mutex);
    m_callback = nullptr;
    m_callbacks.clear();
}

const char* Activity::subscriber() const {
    const std::lock_guard lock(m_mutex);
    return m_callback == nullptr ? nullptr : m_subscriber.c_str();
}

void Activity::enable_callback(CUpti_CallbackId id, bool on) {
    const std::lock_guard lock(m_mutex);
    if (on) {
        m_callbacks.insert(id);
    } else {
        m_callbacks.erase(id);
    }
}

void Activity::note_stream(int device, std::uint32_t stream) {
    if (m_contexts.insert(device).second && records(CUPTI_ACTIVITY_KIND_CONTEXT)) {
        CUpti_ActivityContext3 record{};
        record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
        record.contextId = context_of(device);
        record.deviceId = static_cast<std::uint32_t>(device);
        record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
        record.nullStreamId = default_stream;
        m_buffers.add(record);
    }
    if (m_streams.emplace(device, stream).second && records(CUPTI_ACTIVITY_KIND_STREAM)) {
        CUpti_ActivityStream record{};
        record.kind = CUPTI_ACTIVITY_KIND_STREAM;
        record.contextId = context_of(device);
        record.streamId = stream;
        record.flag = stream == default_stream ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL
                                               : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
        m_buffers.add(record);
    }
}

void Activity::add_external(std::uint32_t correlation) {
    if (!records(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
        return;
    }
    for (const auto& [kind, ids] : t_external) {
        if (!ids.empty()) {
            CUpti_ActivityExternalCorrelation record{};
            record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
            record.externalKind = kind;
            record.externalId = ids.back();
            record.correlationId = correlation;
            m_buffers.add(record);
        }
    }
}

void Activity::add_call(CUpti_ActivityKind kind, std::uint32_t id, const CallRecord& call) {
    if (!records_call(kind, id)) {
        return;
    }
    CUpti_ActivityAPI record{};
    record.kind = kind;
    record.cbid = id;
    record.start = time(call.start);
    record.end = time(call.end);
    record.processId = static_cast<std::uint32_t>(getpid());
    record.threadId = thread_id();
    record.correlationId = call.correlation;
    record.returnValue = static_cast<std::uint32_t>(call.status);
    m_buffers.add(record);
}

void Activity::add_synchronization(const CallRecord& call) {
    if (!records(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) {
        return;
    }
    CUpti_ActivitySynchronization2 record{};
    record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    record.streamId = none;
    record.cudaEventId = none;
    switch (runtime_call_id(call.name)) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020:
        record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
        record.streamId = call.stream;
        break;
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020:
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020:
        record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
        record.cudaEventId = call.event;
        break;
    case CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020:
        record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
        record.streamId = call.stream;
        record.cudaEventId = call.event;
        break;
    case CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020:
        record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
        break;
    default:
        return;
    }
    record.start = time(call.start);
    record.end = time(call.end);
    record.correlationId = call.correlation;
    record.contextId = context_of(call.device);
    record.returnValue = static_cast<std::uint32_t>(call.status);
    m_buffers.add(record);
}

void Activity::call(const CallRecord& call) {
    const std::uint32_t id = runtime_call_id(call.name);
    if (id == 0) {
        report_defect(std::string("CUPTI has no id for the call ") + call.name);
        return;
    }
    const std::lock_guard lock(m_mutex);
    add_external(call.correlation);
    if (const std::uint32_t inside = driver_call_inside(id); inside != 0) {
        CallRecord driver = call; // ends before the runtime's function
        const std::uint64_t margin = (call.end - call.start) / 4;
        driver.start += margin;
        driver.end -= margin;
        add_call(CUPTI_ACTIVITY_KIND_DRIVER, inside, driver);
    }
    add_call(CUPTI_ACTIVITY_KIND_RUNTIME, id, call);
    add_synchronization(call);
}

void Activity::add_kernel(const OperationRecord& operation) {
    if (!records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) {
        return;
    }
    auto record = device_record<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, operation);
    record.start = time(operation.start);
    record.end = time(operation.end);
    record.completed = record.end;
    record.name = m_names.insert(operation.name).first->c_str();
    record.registersPerThread = registers_per_thread;
    record.gridX = static_cast<std::int32_t>(operation.grid.x);
    record.gridY = static_cast<std::int32_t>(operation.grid.y);
    record.gridZ = static_cast<std::int32_t>(operation.grid.z);
    record.blockX = static_cast<std::int32_t>(operation.block.x);
    record.blockY = static_cast<std::int32_t>(operation.block.y);
    record.blockZ = static_cast<std::int32_t>(operation.block.z);
    record.dynamicSharedMemory = operation.shared_bytes;
    record.gridId = ++m_grids;
    record.launchType = CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
    m_buffers.add(record);
}

void Activity::add_copy(const OperationRecord& operation) {
    if (!records(CUPTI_ACTIVITY_KIND_MEMCPY)) {
        return;
    }
    const auto host = static_cast<std::uint8_t>(
        operation.host_is_pageable ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE : CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
    constexpr std::uint8_t device = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    auto record = device_record<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, operation);
    record.start = time(operation.start);
    record.end = time(operation.end);
    record.bytes = operation.bytes;
    record.copyKind = operation.kind == Kind::copy_to_device ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
                      : operation.kind == Kind::copy_to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                                             : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    record.srcKind = operation.kind == Kind::copy_to_device ? host : device;
    record.dstKind = operation.kind == Kind::copy_to_host ? host : device;
    record.copyCount = 1;
    m_buffers.add(record);
}

void Activity::add_fill(const OperationRecord& operation) {
    if (!records(CUPTI_ACTIVITY_KIND_MEMSET)) {
        return;
    }
    auto record = device_record<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, operation);
    record.start = time(operation.start);
    record.end = time(operation.end);
    record.bytes = operation.bytes;
    record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    m_buffers.add(record);
}

void Activity::add_library_launch(const OperationRecord& operation) {
    CallRecord launch{};
    launch.name = "cuLaunchKernel";
    launch.correlation = operation.correlation;
    launch.start = monotonic_now();
    add_external(operation.correlation);
    launch.end = monotonic_now();
    add_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, launch);
}

void Activity::operation(const OperationRecord& operation) {
    if (operation.kind == Kind::numbers) {
        return;
    }
    const std::lock_guard lock(m_mutex);
    note_stream(operation.device, operation.stream);
    if (operation.graph != 0 && records(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
        auto [trace, is_new] = m_graphs.emplace(operation.correlation, CUpti_ActivityGraphTrace2{});
        CUpti_ActivityGraphTrace2& record = trace->second;
        if (is_new) {
            record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
            record.correlationId = operation.correlation;
            record.start = time(operation.start);
            record.deviceId = record.endDeviceId = static_cast<std::uint32_t>(operation.device);
            record.contextId = record.endContextId = context_of(operation.device);
            record.streamId = operation.stream;
            record.graphId = operation.graph;
        }
        record.start = std::min<std::uint64_t>(record.start, time(operation.start));
        record.end = std::max<std::uint64_t>(record.end, time(operation.end));
        return;
    }
    switch (operation.kind) {
    case Kind::copy_to_device:
    case Kind::copy_to_host:
    case Kind::copy_on_device:
        return add_copy(operation);
    case Kind::fill:
        return add_fill(operation);
    case Kind::transform:
        if (operation.graph == 0) {
            add_library_launch(operation);
        }
        return add_kernel(operation);
    default:
        return add_kernel(operation);
    }
}

void Activity::add_graph_traces() {
    for (const auto& [correlation, record] : m_graphs) {
        m_buffers.add(record);
    }
    m_graphs.clear();
}

void Activity::memory(const MemoryRecord& memory) {
    const std::lock_guard lock(m_mutex);
    if (!records(CUPTI_ACTIVITY_KIND_MEMORY2)) {
        return;
    }
    CUpti_ActivityMemory4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    record.memoryOperationType = memory.is_release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                                   : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    record.memoryKind =
        memory.is_page_locked ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.correlationId = memory.correlation;
    record.address = memory.address;
    record.bytes = memory.bytes;
    record.timestamp = time(memory.time);
    record.processId = static_cast<std::uint32_t>(getpid());
    record.deviceId = static_cast<std::uint32_t>(memory.device);
    record.contextId = context_of(memory.device);
    record.streamId = none;
    m_buffers.add(record);
}

void Activity::graph_node(const GraphNodeRecord& node) {
    const CUpti_CallbackId event =
        node.original == 0 ? CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED : CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
    CUpti_CallbackFunc callback = nullptr;
    void* data = nullptr;
    {
        const std::lock_guard lock(m_mutex);
        if (m_callbacks.count(event) == 0) {
            return;
        }
        callback = m_callback;
        data = m_callback_data;
    }
    CUpti_GraphData graph{};
    graph.node = reinterpret_cast<CUgraphNode>(node.node);
    graph.originalNode = reinterpret_cast<CUgraphNode>(node.original);
    CUpti_ResourceData resource{};
    resource.resourceDescriptor = &graph;
    callback(data, CUPTI_CB_DOMAIN_RESOURCE, event, &resource);
}

} // namespace cuda_simulator
