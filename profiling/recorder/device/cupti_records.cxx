// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/device/cupti_records.h"

#include "profiling/recorder/device/kernel_names.h"

namespace spng::recorder {
namespace {

// Maximum delay [ns] of the record of a runtime call after the record of the driver call inside it.
constexpr std::int64_t settling_time = 2'000'000'000;

/// Convert a memory kind of CUPTI to ENUM_CUDA_MEM_KIND of nsys.
std::int64_t memory_kind(int of_cupti) {
    constexpr std::int64_t unknown = 7;
    return of_cupti == CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN ? unknown : of_cupti - 1;
}

/// Return the fields that all device operations have.
template <class Record>
DeviceLocation location_of(const Record& record) {
    return {record.deviceId, record.contextId, record.streamId, record.correlationId,
            null_if_zero(record.graphNodeId)};
}

template <class Record>
const Record& as(const CUpti_Activity& record) {
    return reinterpret_cast<const Record&>(record);
}

const char* overhead_name(std::uint32_t kind) {
    switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
        return "CUDA driver compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
        return "CUPTI buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
        return "CUPTI instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
        return "CUPTI resource allocation";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
        return "CUDA module loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
        return "CUDA lazy function loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
        return "CUDA command buffer full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
        return "CUPTI buffer request";
    default:
        return "CUPTI overhead of another kind";
    }
}

} // namespace

/// Rows of one buffer, which are added to the recorder together.
struct CuptiRecords::Batch {
    std::tuple<std::vector<KernelRow>, std::vector<MemcpyRow>, std::vector<MemsetRow>, std::vector<ApiRow>,
               std::vector<SynchronisationRow>, std::vector<OverheadRow>, std::vector<DeviceMemoryRow>,
               std::vector<GraphTraceRow>, std::vector<ExternalCorrelationRow>, std::vector<CudaContextRow>,
               std::vector<CudaStreamRow>>
        rows;

    template <class Row>
    void add(const Row& row) {
        std::get<std::vector<Row>>(rows).push_back(row);
    }
};

template <>
void CuptiRecords::add(const CUpti_ActivityKernel10& kernel, Batch& batch) {
    const KernelNames& names = kernel_names(kernel.name);
    m_device_of_context[kernel.contextId] = kernel.deviceId;
    KernelRow row;
    row.start = at(kernel.start);
    row.end = at(kernel.end);
    row.location = location_of(kernel);
    row.mangled_name = names.mangled;
    row.demangled_name = names.demangled;
    row.short_name = names.short_name;
    row.launch_type = kernel.launchType;
    row.cache_config = kernel.cacheConfig.config.executed;
    row.registers_per_thread = kernel.registersPerThread;
    row.grid[0] = kernel.gridX;
    row.grid[1] = kernel.gridY;
    row.grid[2] = kernel.gridZ;
    row.block[0] = kernel.blockX;
    row.block[1] = kernel.blockY;
    row.block[2] = kernel.blockZ;
    row.static_shared = kernel.staticSharedMemory;
    row.dynamic_shared = kernel.dynamicSharedMemory;
    row.local_per_thread = kernel.localMemoryPerThread;
    row.local_total = kernel.localMemoryTotal;
    row.grid_id = kernel.gridId;
    row.shared_executed = kernel.sharedMemoryExecuted;
    row.shared_limit_config = kernel.shmemLimitConfig;
    batch.add(row);
}

template <class Record>
void CuptiRecords::add_copy(const Record& copy, std::int64_t kind, Batch& batch) {
    MemcpyRow row;
    row.start = at(copy.start);
    row.end = at(copy.end);
    row.location = location_of(copy);
    row.bytes = static_cast<std::int64_t>(copy.bytes);
    row.copy_kind = kind;
    row.source_kind = memory_kind(copy.srcKind);
    row.target_kind = memory_kind(copy.dstKind);
    batch.add(row);
}

template <>
void CuptiRecords::add(const CUpti_ActivityMemcpy6& copy, Batch& batch) {
    add_copy(copy, copy.copyKind, batch);
}

template <>
void CuptiRecords::add(const CUpti_ActivityMemcpyPtoP4& copy, Batch& batch) {
    add_copy(copy, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, batch);
}

template <>
void CuptiRecords::add(const CUpti_ActivityMemset4& set, Batch& batch) {
    MemsetRow row;
    row.start = at(set.start);
    row.end = at(set.end);
    row.location = location_of(set);
    row.value = set.value;
    row.bytes = static_cast<std::int64_t>(set.bytes);
    row.memory_kind = memory_kind(set.memoryKind);
    batch.add(row);
}

template <>
void CuptiRecords::add(const CUpti_ActivityAPI& call, Batch& batch) {
    const bool runtime = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
    ApiRow row;
    row.start = at(call.start);
    row.end = at(call.end);
    row.api = runtime ? ApiClass::runtime : ApiClass::driver;
    row.thread = call.threadId;
    row.correlation = call.correlationId;
    row.name = api_name(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, call.cbid);
    row.result = call.returnValue;
    if (runtime) {
        m_driver_calls.erase(row.correlation);
        m_runtime_calls.insert(row.correlation);
        batch.add(row);
    } else if (m_runtime_calls.count(row.correlation) == 0 &&
               m_earlier_runtime_calls.count(row.correlation) == 0) {
        m_driver_calls.insert_or_assign(row.correlation, row);
    }
}

template <>
void CuptiRecords::add(const CUpti_ActivitySynchronization2& wait, Batch& batch) {
    constexpr std::uint32_t none = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    SynchronisationRow row;
    row.start = at(wait.start);
    row.end = at(wait.end);
    const auto device = m_device_of_context.find(wait.contextId);
    row.location.device = device == m_device_of_context.end() ? 0 : device->second;
    row.location.context = wait.contextId;
    row.location.stream = wait.streamId == none ? 0 : wait.streamId;
    row.location.correlation = wait.correlationId;
    row.kind = wait.type;
    row.event = wait.cudaEventId == none ? 0 : wait.cudaEventId;
    batch.add(row);
}

template <>
void CuptiRecords::add(const CUpti_ActivityOverhead3& overhead, Batch& batch) {
    const bool has_thread = overhead.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
    batch.add(OverheadRow{at(overhead.start), at(overhead.end),
                          has_thread ? overhead.objectId.pt.threadId : 0,
                          m_recorder.intern(overhead_name(overhead.overheadKind))});
}

template <>
void CuptiRecords::add(const CUpti_ActivityMemory4& memory, Batch& batch) {
    DeviceMemoryRow row;
    row.time = at(memory.timestamp);
    row.device = memory.deviceId;
    row.context = memory.contextId;
    row.address = static_cast<std::int64_t>(memory.address);
    row.bytes = static_cast<std::int64_t>(memory.bytes);
    row.memory_kind = memory_kind(memory.memoryKind);
    row.is_release = memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    row.correlation = memory.correlationId;
    row.stream = memory.streamId;
    row.name = m_recorder.intern(memory.name == nullptr ? "" : memory.name);
    batch.add(row);
}

template <>
void CuptiRecords::add(const CUpti_ActivityGraphTrace2& graph, Batch& batch) {
    GraphTraceRow row;
    row.start = at(graph.start);
    row.end = at(graph.end);
    row.location = {graph.deviceId, graph.contextId, graph.streamId, graph.correlationId, std::nullopt};
    row.graph = graph.graphId; // the record contains only the launched graph
    row.executable_graph = graph.graphId;
    batch.add(row);
}

template <>
void CuptiRecords::add(const CUpti_ActivityExternalCorrelation& correlation, Batch& batch) {
    if (correlation.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) {
        batch.add(ExternalCorrelationRow{correlation.correlationId,
                                         static_cast<std::int64_t>(correlation.externalId)});
    }
}

template <>
void CuptiRecords::add(const CUpti_ActivityContext3& context, Batch& batch) {
    m_device_of_context[context.contextId] = context.deviceId;
    batch.add(CudaContextRow{context.nullStreamId, context.deviceId, context.contextId});
}

template <>
void CuptiRecords::add(const CUpti_ActivityStream& stream, Batch& batch) {
    batch.add(CudaStreamRow{stream.streamId, stream.contextId, stream.priority, stream.flag});
}

void CuptiRecords::decode(const CUpti_Activity& record, Batch& batch) {
    switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return add(as<CUpti_ActivityKernel10>(record), batch);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return add(as<CUpti_ActivityMemcpy6>(record), batch);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return add(as<CUpti_ActivityMemcpyPtoP4>(record), batch);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return add(as<CUpti_ActivityMemset4>(record), batch);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return add(as<CUpti_ActivityAPI>(record), batch);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return add(as<CUpti_ActivitySynchronization2>(record), batch);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return add(as<CUpti_ActivityOverhead3>(record), batch);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
        return add(as<CUpti_ActivityMemory4>(record), batch);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return add(as<CUpti_ActivityGraphTrace2>(record), batch);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return add(as<CUpti_ActivityExternalCorrelation>(record), batch);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
        return add(as<CUpti_ActivityContext3>(record), batch);
    case CUPTI_ACTIVITY_KIND_STREAM:
        return add(as<CUpti_ActivityStream>(record), batch);
    default:
        ++m_unknown;
    }
}

void CuptiRecords::take(std::uint8_t* buffer, std::size_t size) {
    Batch batch;
    {
        const std::lock_guard lock(m_mutex);
        CUpti_Activity* record = nullptr;
        while (m_libraries.cupti.next_record(buffer, size, &record) == CUPTI_SUCCESS) {
            decode(*record, batch);
        }
    }
    std::apply([this]<class... Rows>(
                   const std::vector<Rows>&... rows) { (m_recorder.add(std::span<const Rows>(rows)), ...); },
               batch.rows);
}

const CuptiRecords::KernelNames& CuptiRecords::kernel_names(const char* mangled) {
    const std::string name = mangled == nullptr ? "[unknown kernel]" : mangled;
    const auto [entry, is_new] = m_kernel_names.emplace(name, KernelNames{});
    if (is_new) {
        const std::string written = demangle(name);
        entry->second = {m_recorder.intern(name), m_recorder.intern(written),
                         m_recorder.intern(short_kernel_name(written))};
    }
    return entry->second;
}

StringId CuptiRecords::api_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    const auto [entry, is_new] = m_api_names.emplace(std::pair{static_cast<int>(domain), id}, StringId{});
    if (is_new) {
        const char* name = nullptr;
        const bool known =
            m_libraries.cupti.callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr;
        entry->second = m_recorder.intern(known ? name : "CUDA function " + std::to_string(id));
    }
    return entry->second;
}

void CuptiRecords::settle_driver_calls(bool all) {
    std::vector<ApiRow> settled;
    {
        const std::lock_guard lock(m_mutex);
        const std::int64_t latest = now().ns - settling_time;
        for (auto call = m_driver_calls.begin(); call != m_driver_calls.end();) {
            if (all || call->second.end.ns < latest) {
                settled.push_back(call->second);
                call = m_driver_calls.erase(call);
            } else {
                ++call;
            }
        }
        if (m_settled.ns < latest) {
            m_settled = now();
            m_earlier_runtime_calls = std::exchange(m_runtime_calls, {});
        }
    }
    m_recorder.add(std::span<const ApiRow>(settled));
}

} // namespace spng::recorder
