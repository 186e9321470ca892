// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of CUDA device and API activity and of device properties; see columns.h.

#include "profiling/recorder/file/columns.h"

#include <cstdint>
#include <tuple>

namespace spng::recorder {
namespace detail {

/// Columns of every device operation: deviceId, contextId, greenContextId, streamId, correlationId,
/// globalPid.
template <class Row>
constexpr auto location_columns() {
    return std::make_tuple(
        column("deviceId", not_null, [](const Row& row) { return row.location.device; }),
        column("contextId", not_null, [](const Row& row) { return row.location.context; }),
        column("greenContextId", integer, null_value),
        column("streamId", not_null, [](const Row& row) { return row.location.stream; }),
        column("correlationId", integer, [](const Row& row) { return row.location.correlation; }),
        column("globalPid", integer, this_process));
}

template <class Row>
constexpr auto interval_columns() {
    return std::make_tuple(column("start", &Row::start), column("end", &Row::end));
}

template <class Row>
constexpr auto graph_node_column() {
    return column("graphNodeId", integer, [](const Row& row) { return row.location.graph_node; });
}

} // namespace detail

template <>
struct Table<ApiRow> {
    static constexpr TableHead head{"CUPTI_ACTIVITY_KIND_RUNTIME", "start, end DESC"};
    static constexpr auto columns() {
        return std::tuple_cat(
            detail::interval_columns<ApiRow>(),
            std::make_tuple(
                column("eventClass", &ApiRow::api), column("globalTid", integer, thread_of(&ApiRow::thread)),
                column("correlationId", integer, &ApiRow::correlation), column("nameId", &ApiRow::name),
                column("returnValue", &ApiRow::result), column("callchainId", integer, null_value)));
    }
};

template <>
struct Table<KernelRow> {
    static constexpr TableHead head{"CUPTI_ACTIVITY_KIND_KERNEL", "start, end DESC"};
    static constexpr auto columns() {
        using Row = KernelRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::location_columns<Row>(),
            std::make_tuple(
                column("demangledName", &Row::demangled_name), column("shortName", &Row::short_name),
                column("mangledName", integer, &Row::mangled_name), column("launchType", &Row::launch_type),
                column("cacheConfig", &Row::cache_config),
                column("registersPerThread", &Row::registers_per_thread),
                column("gridX", not_null, [](const Row& row) { return row.grid[0]; }),
                column("gridY", not_null, [](const Row& row) { return row.grid[1]; }),
                column("gridZ", not_null, [](const Row& row) { return row.grid[2]; }),
                column("blockX", not_null, [](const Row& row) { return row.block[0]; }),
                column("blockY", not_null, [](const Row& row) { return row.block[1]; }),
                column("blockZ", not_null, [](const Row& row) { return row.block[2]; }),
                column("staticSharedMemory", &Row::static_shared),
                column("dynamicSharedMemory", &Row::dynamic_shared),
                column("localMemoryPerThread", &Row::local_per_thread),
                column("localMemoryTotal", &Row::local_total), column("gridId", &Row::grid_id),
                column("sharedMemoryExecuted", &Row::shared_executed), detail::graph_node_column<Row>(),
                column("sharedMemoryLimitConfig", &Row::shared_limit_config)));
    }
};

template <>
struct Table<MemcpyRow> {
    static constexpr TableHead head{"CUPTI_ACTIVITY_KIND_MEMCPY", "start, end DESC"};
    static constexpr auto columns() {
        using Row = MemcpyRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::location_columns<Row>(),
            std::make_tuple(
                column("bytes", &Row::bytes), column("copyKind", &Row::copy_kind),
                column("deprecatedSrcId", integer, null_value), column("srcKind", &Row::source_kind),
                column("dstKind", &Row::target_kind), column("srcDeviceId", integer, null_value),
                column("srcContextId", integer, null_value), column("dstDeviceId", integer, null_value),
                column("dstContextId", integer, null_value), column("migrationCause", integer, null_value),
                detail::graph_node_column<Row>(), column("virtualAddress", integer, null_value)));
    }
};

template <>
struct Table<MemsetRow> {
    static constexpr TableHead head{"CUPTI_ACTIVITY_KIND_MEMSET", "start, end DESC"};
    static constexpr auto columns() {
        using Row = MemsetRow;
        return std::tuple_cat(detail::interval_columns<Row>(), detail::location_columns<Row>(),
                              std::make_tuple(column("value", &Row::value), column("bytes", &Row::bytes),
                                              detail::graph_node_column<Row>(),
                                              column("memKind", &Row::memory_kind)));
    }
};

template <>
struct Table<SynchronisationRow> {
    static constexpr TableHead head{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start, end DESC"};
    static constexpr auto columns() {
        using Row = SynchronisationRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::location_columns<Row>(),
            std::make_tuple(column("syncType", &Row::kind), column("eventId", &Row::event)));
    }
};

template <>
struct Table<GraphTraceRow> {
    static constexpr TableHead head{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "start, end DESC"};
    static constexpr auto columns() {
        using Row = GraphTraceRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::location_columns<Row>(),
            std::make_tuple(column("graphId", &Row::graph), column("graphExecId", &Row::executable_graph)));
    }
};

template <>
struct Table<GraphNodeRow> {
    static constexpr TableHead head{"CUDA_GRAPH_NODE_EVENTS", "start, end DESC"};
    static constexpr auto columns() {
        using Row = GraphNodeRow;
        return std::tuple_cat(detail::interval_columns<Row>(),
                              std::make_tuple(column("nameId", &Row::name),
                                              column("globalTid", integer, thread_of(&Row::thread)),
                                              column("graphNodeId", &Row::node),
                                              column("originalGraphNodeId", &Row::original_node),
                                              column("spngCall", &Row::call)));
    }
};

template <>
struct Table<DeviceMemoryRow> {
    static constexpr TableHead head{"CUDA_GPU_MEMORY_USAGE_EVENTS", "start"};
    static constexpr auto columns() {
        using Row = DeviceMemoryRow;
        return std::make_tuple(column("start", &Row::time), column("globalPid", integer, this_process),
                               column("deviceId", &Row::device), column("contextId", &Row::context),
                               column("virtualAddress", &Row::address), column("bytes", &Row::bytes),
                               column("memKind", &Row::memory_kind),
                               column("memoryOperationType", not_null,
                                      [](const Row& row) { return std::int64_t{row.is_release ? 1 : 0}; }),
                               column("name", "TEXT", inline_string(&Row::name)),
                               column("correlationId", &Row::correlation), column("streamId", &Row::stream));
    }
};

template <>
struct Table<ExternalCorrelationRow> {
    static constexpr TableHead head{"SPNG_CALL_CORRELATION", "correlationId"};
    static constexpr auto columns() {
        return std::make_tuple(column("correlationId", &ExternalCorrelationRow::correlation),
                               column("call", &ExternalCorrelationRow::call),
                               column("globalPid", integer, this_process));
    }
};

template <>
struct Table<GpuRow> {
    static constexpr TableHead head{"TARGET_INFO_GPU", "id", true};
    static constexpr auto columns() {
        using Row = GpuRow;
        return std::make_tuple(
            column("vmId", not_null, constant(virtual_machine)), column("id", &Row::id),
            column("name", "TEXT", inline_string(&Row::name)),
            column("busLocation", "TEXT", inline_string(&Row::bus_location)),
            column("isDiscrete", integer, constant(1)), column("l2CacheSize", &Row::l2_cache),
            column("totalMemory", &Row::total_memory), column("memoryBandwidth", &Row::memory_bandwidth),
            column("clockRate", &Row::clock_rate), column("smCount", &Row::sm_count),
            column("uuid", "TEXT", inline_string(&Row::uuid)),
            column("chipName", "TEXT", inline_string(&Row::chip)),
            column("cuDevice", integer, &Row::cuda_device), column("maxShmemPerSm", &Row::shared_per_sm),
            column("maxRegistersPerSm", &Row::registers_per_sm), column("asyncEngines", &Row::async_engines),
            column("maxWarpsPerSm", &Row::max_warps_per_sm), column("computeMajor", &Row::compute_major),
            column("computeMinor", &Row::compute_minor));
    }
};

template <>
struct Table<CudaContextRow> {
    static constexpr TableHead head{"TARGET_INFO_CUDA_CONTEXT_INFO", "contextId"};
    static constexpr auto columns() {
        return std::make_tuple(
            column("nullStreamId", &CudaContextRow::null_stream), column("hwId", not_null, constant(0)),
            column("vmId", not_null, constant(0)), column("processId", not_null, this_process),
            column("deviceId", &CudaContextRow::device), column("contextId", &CudaContextRow::context));
    }
};

template <>
struct Table<CudaStreamRow> {
    static constexpr TableHead head{"TARGET_INFO_CUDA_STREAM", "streamId"};
    static constexpr auto columns() {
        return std::make_tuple(
            column("streamId", &CudaStreamRow::stream), column("hwId", not_null, constant(0)),
            column("vmId", not_null, constant(0)), column("processId", not_null, this_process),
            column("contextId", &CudaStreamRow::context), column("priority", &CudaStreamRow::priority),
            column("flag", &CudaStreamRow::flag));
    }
};

} // namespace spng::recorder
