#pragma once
// What a CUDA device and its API did, and what the device is; see columns.h.

#include "profiling/recorder/file/columns.h"

#include <cstdint>
#include <tuple>

namespace spng::recorder {
namespace detail {

/// deviceId, contextId, greenContextId, streamId, correlationId, globalPid of every device operation.
template <class Row>
constexpr auto place_columns() {
    return std::make_tuple(
        column("deviceId", needed, [](const Row& row) { return row.place.device; }),
        column("contextId", needed, [](const Row& row) { return row.place.context; }),
        column("greenContextId", integer, nothing),
        column("streamId", needed, [](const Row& row) { return row.place.stream; }),
        column("correlationId", integer, [](const Row& row) { return row.place.correlation; }),
        column("globalPid", integer, this_process));
}

template <class Row>
constexpr auto interval_columns() {
    return std::make_tuple(column("start", needed, &Row::start), column("end", needed, &Row::end));
}

template <class Row>
constexpr auto graph_node_column() {
    return column("graphNodeId", integer, [](const Row& row) { return row.place.graph_node; });
}

} // namespace detail

template <>
struct Table<ApiRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_RUNTIME";
    static constexpr bool always = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        return std::tuple_cat(
            detail::interval_columns<ApiRow>(),
            std::make_tuple(column("eventClass", needed, &ApiRow::api),
                            column("globalTid", integer, detail::thread_of(&ApiRow::thread)),
                            column("correlationId", integer, &ApiRow::correlation),
                            column("nameId", needed, &ApiRow::name),
                            column("returnValue", needed, &ApiRow::result),
                            column("callchainId", integer, detail::nothing)));
    }
};

template <>
struct Table<KernelRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_KERNEL";
    static constexpr bool always = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = KernelRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::place_columns<Row>(),
            std::make_tuple(column("demangledName", needed, &Row::demangled_name),
                            column("shortName", needed, &Row::short_name),
                            column("mangledName", integer, &Row::mangled_name),
                            column("launchType", integer, &Row::launch_type),
                            column("cacheConfig", integer, &Row::cache_config),
                            column("registersPerThread", needed, &Row::registers_per_thread),
                            column("gridX", needed, [](const Row& row) { return row.grid[0]; }),
                            column("gridY", needed, [](const Row& row) { return row.grid[1]; }),
                            column("gridZ", needed, [](const Row& row) { return row.grid[2]; }),
                            column("blockX", needed, [](const Row& row) { return row.block[0]; }),
                            column("blockY", needed, [](const Row& row) { return row.block[1]; }),
                            column("blockZ", needed, [](const Row& row) { return row.block[2]; }),
                            column("staticSharedMemory", needed, &Row::static_shared),
                            column("dynamicSharedMemory", needed, &Row::dynamic_shared),
                            column("localMemoryPerThread", needed, &Row::local_per_thread),
                            column("localMemoryTotal", needed, &Row::local_total),
                            column("gridId", needed, &Row::grid_id),
                            column("sharedMemoryExecuted", integer, &Row::shared_executed),
                            detail::graph_node_column<Row>(),
                            column("sharedMemoryLimitConfig", integer, &Row::shared_limit_config)));
    }
};

template <>
struct Table<MemcpyRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_MEMCPY";
    static constexpr bool always = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = MemcpyRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::place_columns<Row>(),
            std::make_tuple(
                column("bytes", needed, &Row::bytes), column("copyKind", needed, &Row::copy_kind),
                column("deprecatedSrcId", integer, detail::nothing),
                column("srcKind", integer, &Row::source_kind), column("dstKind", integer, &Row::target_kind),
                column("srcDeviceId", integer, detail::nothing),
                column("srcContextId", integer, detail::nothing),
                column("dstDeviceId", integer, detail::nothing),
                column("dstContextId", integer, detail::nothing),
                column("migrationCause", integer, detail::nothing), detail::graph_node_column<Row>(),
                column("virtualAddress", integer, detail::nothing)));
    }
};

template <>
struct Table<MemsetRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_MEMSET";
    static constexpr bool always = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = MemsetRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::place_columns<Row>(),
            std::make_tuple(column("value", needed, &Row::value), column("bytes", needed, &Row::bytes),
                            detail::graph_node_column<Row>(), column("memKind", integer, &Row::memory_kind)));
    }
};

template <>
struct Table<SynchronisationRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
    static constexpr bool always = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = SynchronisationRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::place_columns<Row>(),
            std::make_tuple(column("syncType", needed, &Row::kind), column("eventId", needed, &Row::event)));
    }
};

template <>
struct Table<CudaEventRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
    static constexpr bool always = false;
    static constexpr const char* order = "correlationId";
    static constexpr auto columns() {
        return std::tuple_cat(detail::place_columns<CudaEventRow>(),
                              std::make_tuple(column("eventId", needed, &CudaEventRow::event)));
    }
};

template <>
struct Table<GraphTraceRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    static constexpr bool always = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = GraphTraceRow;
        return std::tuple_cat(detail::interval_columns<Row>(), detail::place_columns<Row>(),
                              std::make_tuple(column("graphId", needed, &Row::graph),
                                              column("graphExecId", needed, &Row::executable_graph)));
    }
};

template <>
struct Table<GraphNodeRow> {
    static constexpr const char* name = "CUDA_GRAPH_NODE_EVENTS";
    static constexpr bool always = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = GraphNodeRow;
        return std::tuple_cat(detail::interval_columns<Row>(),
                              std::make_tuple(column("nameId", needed, &Row::name),
                                              column("globalTid", integer, detail::thread_of(&Row::thread)),
                                              column("graphNodeId", needed, &Row::node),
                                              column("originalGraphNodeId", integer, &Row::original_node),
                                              column("spngCall", integer, &Row::call)));
    }
};

template <>
struct Table<DeviceMemoryRow> {
    static constexpr const char* name = "CUDA_GPU_MEMORY_USAGE_EVENTS";
    static constexpr bool always = false;
    static constexpr const char* order = "start";
    static constexpr auto columns() {
        using Row = DeviceMemoryRow;
        return std::make_tuple(
            column("start", needed, &Row::time), column("globalPid", integer, detail::this_process),
            column("deviceId", needed, &Row::device), column("contextId", needed, &Row::context),
            column("virtualAddress", needed, &Row::address), column("bytes", needed, &Row::bytes),
            column("memKind", needed, &Row::memory_kind),
            column("memoryOperationType", needed,
                   [](const Row& row) { return std::int64_t{row.is_release ? 1 : 0}; }),
            column("name", "TEXT", [](const Row& row) { return Spelled{row.name}; }),
            column("correlationId", integer, &Row::correlation), column("streamId", integer, &Row::stream));
    }
};

template <>
struct Table<ExternalCorrelationRow> {
    static constexpr const char* name = "SPNG_CALL_CORRELATION";
    static constexpr bool always = false;
    static constexpr const char* order = "correlationId";
    static constexpr auto columns() {
        return std::make_tuple(column("correlationId", needed, &ExternalCorrelationRow::correlation),
                               column("call", needed, &ExternalCorrelationRow::call),
                               column("globalPid", integer, detail::this_process));
    }
};

template <>
struct Table<GpuRow> {
    static constexpr const char* name = "TARGET_INFO_GPU";
    static constexpr bool always = true;
    static constexpr const char* order = "id";
    static constexpr auto columns() {
        using Row = GpuRow;
        const auto spelled = [](StringId Row::*member) {
            return [member](const Row& row) { return Spelled{row.*member}; };
        };
        return std::make_tuple(
            column("vmId", needed, [](const Row&) { return static_cast<std::int64_t>(virtual_machine); }),
            column("id", needed, &Row::id), column("name", "TEXT", spelled(&Row::name)),
            column("busLocation", "TEXT", spelled(&Row::bus_location)),
            column("isDiscrete", integer, [](const Row&) { return std::int64_t{1}; }),
            column("l2CacheSize", integer, &Row::l2_cache),
            column("totalMemory", integer, &Row::total_memory),
            column("memoryBandwidth", integer, &Row::memory_bandwidth),
            column("clockRate", integer, &Row::clock_rate), column("smCount", integer, &Row::sm_count),
            column("uuid", "TEXT", spelled(&Row::uuid)), column("chipName", "TEXT", spelled(&Row::chip)),
            column("cuDevice", integer, &Row::cuda_device),
            column("maxShmemPerSm", integer, &Row::shared_per_sm),
            column("maxRegistersPerSm", integer, &Row::registers_per_sm),
            column("asyncEngines", integer, &Row::async_engines),
            column("maxWarpsPerSm", integer, &Row::max_warps_per_sm),
            column("computeMajor", integer, &Row::compute_major),
            column("computeMinor", integer, &Row::compute_minor));
    }
};

template <>
struct Table<CudaContextRow> {
    static constexpr const char* name = "TARGET_INFO_CUDA_CONTEXT_INFO";
    static constexpr bool always = false;
    static constexpr const char* order = "contextId";
    static constexpr auto columns() {
        const auto zero = [](const CudaContextRow&) { return std::int64_t{0}; };
        return std::make_tuple(column("nullStreamId", needed, &CudaContextRow::null_stream),
                               column("hwId", needed, zero), column("vmId", needed, zero),
                               column("processId", needed, detail::this_process),
                               column("deviceId", needed, &CudaContextRow::device),
                               column("contextId", needed, &CudaContextRow::context));
    }
};

template <>
struct Table<CudaStreamRow> {
    static constexpr const char* name = "TARGET_INFO_CUDA_STREAM";
    static constexpr bool always = false;
    static constexpr const char* order = "streamId";
    static constexpr auto columns() {
        const auto zero = [](const CudaStreamRow&) { return std::int64_t{0}; };
        return std::make_tuple(column("streamId", needed, &CudaStreamRow::stream),
                               column("hwId", needed, zero), column("vmId", needed, zero),
                               column("processId", needed, detail::this_process),
                               column("contextId", needed, &CudaStreamRow::context),
                               column("priority", needed, &CudaStreamRow::priority),
                               column("flag", needed, &CudaStreamRow::flag));
    }
};

} // namespace spng::recorder
