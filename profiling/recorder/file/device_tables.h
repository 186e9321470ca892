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
    return std::make_tuple(column("start", not_null, &Row::start), column("end", not_null, &Row::end));
}

template <class Row>
constexpr auto graph_node_column() {
    return column("graphNodeId", integer, [](const Row& row) { return row.location.graph_node; });
}

} // namespace detail

template <>
struct Table<ApiRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_RUNTIME";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        return std::tuple_cat(
            detail::interval_columns<ApiRow>(),
            std::make_tuple(column("eventClass", not_null, &ApiRow::api),
                            column("globalTid", integer, detail::thread_of(&ApiRow::thread)),
                            column("correlationId", integer, &ApiRow::correlation),
                            column("nameId", not_null, &ApiRow::name),
                            column("returnValue", not_null, &ApiRow::result),
                            column("callchainId", integer, detail::null_value)));
    }
};

template <>
struct Table<KernelRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_KERNEL";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = KernelRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::location_columns<Row>(),
            std::make_tuple(column("demangledName", not_null, &Row::demangled_name),
                            column("shortName", not_null, &Row::short_name),
                            column("mangledName", integer, &Row::mangled_name),
                            column("launchType", integer, &Row::launch_type),
                            column("cacheConfig", integer, &Row::cache_config),
                            column("registersPerThread", not_null, &Row::registers_per_thread),
                            column("gridX", not_null, [](const Row& row) { return row.grid[0]; }),
                            column("gridY", not_null, [](const Row& row) { return row.grid[1]; }),
                            column("gridZ", not_null, [](const Row& row) { return row.grid[2]; }),
                            column("blockX", not_null, [](const Row& row) { return row.block[0]; }),
                            column("blockY", not_null, [](const Row& row) { return row.block[1]; }),
                            column("blockZ", not_null, [](const Row& row) { return row.block[2]; }),
                            column("staticSharedMemory", not_null, &Row::static_shared),
                            column("dynamicSharedMemory", not_null, &Row::dynamic_shared),
                            column("localMemoryPerThread", not_null, &Row::local_per_thread),
                            column("localMemoryTotal", not_null, &Row::local_total),
                            column("gridId", not_null, &Row::grid_id),
                            column("sharedMemoryExecuted", integer, &Row::shared_executed),
                            detail::graph_node_column<Row>(),
                            column("sharedMemoryLimitConfig", integer, &Row::shared_limit_config)));
    }
};

template <>
struct Table<MemcpyRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_MEMCPY";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = MemcpyRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::location_columns<Row>(),
            std::make_tuple(
                column("bytes", not_null, &Row::bytes), column("copyKind", not_null, &Row::copy_kind),
                column("deprecatedSrcId", integer, detail::null_value),
                column("srcKind", integer, &Row::source_kind), column("dstKind", integer, &Row::target_kind),
                column("srcDeviceId", integer, detail::null_value),
                column("srcContextId", integer, detail::null_value),
                column("dstDeviceId", integer, detail::null_value),
                column("dstContextId", integer, detail::null_value),
                column("migrationCause", integer, detail::null_value), detail::graph_node_column<Row>(),
                column("virtualAddress", integer, detail::null_value)));
    }
};

template <>
struct Table<MemsetRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_MEMSET";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = MemsetRow;
        return std::tuple_cat(
            detail::interval_columns<Row>(), detail::location_columns<Row>(),
            std::make_tuple(column("value", not_null, &Row::value), column("bytes", not_null, &Row::bytes),
                            detail::graph_node_column<Row>(), column("memKind", integer, &Row::memory_kind)));
    }
};

template <>
struct Table<SynchronisationRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = SynchronisationRow;
        return std::tuple_cat(detail::interval_columns<Row>(), detail::location_columns<Row>(),
                              std::make_tuple(column("syncType", not_null, &Row::kind),
                                              column("eventId", not_null, &Row::event)));
    }
};

template <>
struct Table<CudaEventRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "correlationId";
    static constexpr auto columns() {
        return std::tuple_cat(detail::location_columns<CudaEventRow>(),
                              std::make_tuple(column("eventId", not_null, &CudaEventRow::event)));
    }
};

template <>
struct Table<GraphTraceRow> {
    static constexpr const char* name = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = GraphTraceRow;
        return std::tuple_cat(detail::interval_columns<Row>(), detail::location_columns<Row>(),
                              std::make_tuple(column("graphId", not_null, &Row::graph),
                                              column("graphExecId", not_null, &Row::executable_graph)));
    }
};

template <>
struct Table<GraphNodeRow> {
    static constexpr const char* name = "CUDA_GRAPH_NODE_EVENTS";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        using Row = GraphNodeRow;
        return std::tuple_cat(detail::interval_columns<Row>(),
                              std::make_tuple(column("nameId", not_null, &Row::name),
                                              column("globalTid", integer, detail::thread_of(&Row::thread)),
                                              column("graphNodeId", not_null, &Row::node),
                                              column("originalGraphNodeId", integer, &Row::original_node),
                                              column("spngCall", integer, &Row::call)));
    }
};

template <>
struct Table<DeviceMemoryRow> {
    static constexpr const char* name = "CUDA_GPU_MEMORY_USAGE_EVENTS";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "start";
    static constexpr auto columns() {
        using Row = DeviceMemoryRow;
        return std::make_tuple(
            column("start", not_null, &Row::time), column("globalPid", integer, detail::this_process),
            column("deviceId", not_null, &Row::device), column("contextId", not_null, &Row::context),
            column("virtualAddress", not_null, &Row::address), column("bytes", not_null, &Row::bytes),
            column("memKind", not_null, &Row::memory_kind),
            column("memoryOperationType", not_null,
                   [](const Row& row) { return std::int64_t{row.is_release ? 1 : 0}; }),
            column("name", "TEXT", [](const Row& row) { return InlineString{row.name}; }),
            column("correlationId", integer, &Row::correlation), column("streamId", integer, &Row::stream));
    }
};

template <>
struct Table<ExternalCorrelationRow> {
    static constexpr const char* name = "SPNG_CALL_CORRELATION";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "correlationId";
    static constexpr auto columns() {
        return std::make_tuple(column("correlationId", not_null, &ExternalCorrelationRow::correlation),
                               column("call", not_null, &ExternalCorrelationRow::call),
                               column("globalPid", integer, detail::this_process));
    }
};

template <>
struct Table<GpuRow> {
    static constexpr const char* name = "TARGET_INFO_GPU";
    static constexpr bool create_at_start = true;
    static constexpr const char* order = "id";
    static constexpr auto columns() {
        using Row = GpuRow;
        const auto inline_string = [](StringId Row::*member) {
            return [member](const Row& row) { return InlineString{row.*member}; };
        };
        return std::make_tuple(
            column("vmId", not_null, [](const Row&) { return static_cast<std::int64_t>(virtual_machine); }),
            column("id", not_null, &Row::id), column("name", "TEXT", inline_string(&Row::name)),
            column("busLocation", "TEXT", inline_string(&Row::bus_location)),
            column("isDiscrete", integer, [](const Row&) { return std::int64_t{1}; }),
            column("l2CacheSize", integer, &Row::l2_cache),
            column("totalMemory", integer, &Row::total_memory),
            column("memoryBandwidth", integer, &Row::memory_bandwidth),
            column("clockRate", integer, &Row::clock_rate), column("smCount", integer, &Row::sm_count),
            column("uuid", "TEXT", inline_string(&Row::uuid)),
            column("chipName", "TEXT", inline_string(&Row::chip)),
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
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "contextId";
    static constexpr auto columns() {
        const auto zero = [](const CudaContextRow&) { return std::int64_t{0}; };
        return std::make_tuple(column("nullStreamId", not_null, &CudaContextRow::null_stream),
                               column("hwId", not_null, zero), column("vmId", not_null, zero),
                               column("processId", not_null, detail::this_process),
                               column("deviceId", not_null, &CudaContextRow::device),
                               column("contextId", not_null, &CudaContextRow::context));
    }
};

template <>
struct Table<CudaStreamRow> {
    static constexpr const char* name = "TARGET_INFO_CUDA_STREAM";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "streamId";
    static constexpr auto columns() {
        const auto zero = [](const CudaStreamRow&) { return std::int64_t{0}; };
        return std::make_tuple(column("streamId", not_null, &CudaStreamRow::stream),
                               column("hwId", not_null, zero), column("vmId", not_null, zero),
                               column("processId", not_null, detail::this_process),
                               column("contextId", not_null, &CudaStreamRow::context),
                               column("priority", not_null, &CudaStreamRow::priority),
                               column("flag", not_null, &CudaStreamRow::flag));
    }
};

} // namespace spng::recorder
