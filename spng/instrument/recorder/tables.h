#pragma once
// Which table and which columns a row becomes. Names, order and meaning of the columns of NVTX_EVENTS,
// CUPTI_* and the other tables in capitals without SPNG_ are those of the SQLite export of Nsight Systems
// 2023.4 (schema 3.7.2), so that its readers read our files; tables SPNG_* are our own.
//
// A column is a name, a declaration and what to take from a row: a member, or a function of it.

#include "spng/instrument/recorder/identity.h"
#include "spng/instrument/recorder/rows.h"

#include <bit>
#include <string>
#include <tuple>

namespace spng::recorder {

template <class Take>
struct Column {
    const char* name;
    const char* type;
    Take take;
};

template <class Take>
constexpr Column<Take> column(const char* name, const char* type, Take take) {
    return {name, type, take};
}

inline constexpr const char* needed = "INTEGER NOT NULL";
inline constexpr const char* integer = "INTEGER";

/// The system's thread id, written as globalTid.
struct ThreadNumber {
    std::uint32_t thread;
};
/// Written as the globalPid of the session.
struct ThisProcess {};

/// The table of a row. `always`: made at the start of each session; others with their first row, so that what
/// was not asked for is absent and not empty. `order`: how rows are sorted in the finished file.
template <class Row>
struct Table;

namespace detail {

template <class Row>
constexpr auto thread_of(std::uint32_t Row::*member) {
    return [member](const Row& row) { return ThreadNumber{row.*member}; };
}

constexpr auto this_process = [](const auto&) { return ThisProcess{}; };
constexpr auto nothing = [](const auto&) { return Null{}; };

template <Payload kind>
constexpr auto payload(const NvtxRow& row) {
    using Whole = std::optional<std::int64_t>;
    const auto low = static_cast<std::uint32_t>(row.payload);
    if constexpr (kind == Payload::float64 || kind == Payload::float32) {
        using Real = std::optional<double>;
        if (row.payload_kind != kind) {
            return Real{};
        }
        return Real{kind == Payload::float64 ? std::bit_cast<double>(row.payload)
                                             : std::bit_cast<float>(low)};
    } else if constexpr (kind == Payload::int32) {
        return row.payload_kind == kind ? Whole{static_cast<std::int32_t>(low)} : Whole{};
    } else if constexpr (kind == Payload::uint32) {
        return row.payload_kind == kind ? Whole{low} : Whole{};
    } else {
        return row.payload_kind == kind ? Whole{static_cast<std::int64_t>(row.payload)} : Whole{};
    }
}

/// Only registered names are referred to; others are spelled out.
inline StringId registered_name(const NvtxRow& row) {
    return row.registered_name ? row.name : StringId{};
}
inline Spelled plain_name(const NvtxRow& row) {
    return {row.registered_name ? StringId{} : row.name};
}
inline std::optional<std::int64_t> if_not_0(std::int64_t value) {
    return value == 0 ? std::nullopt : std::optional(value);
}

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
struct Table<NvtxRow> {
    static constexpr const char* name = "NVTX_EVENTS";
    static constexpr bool always = true;
    // Parents before children that begin in the same nanosecond.
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        return std::make_tuple(
            column("start", needed, &NvtxRow::start),
            column("end", integer,
                   [](const NvtxRow& row) { return row.has_end ? std::optional(row.end) : std::nullopt; }),
            column("eventType", needed, &NvtxRow::kind),
            column("rangeId", integer, [](const NvtxRow& row) { return detail::if_not_0(row.range); }),
            column("category", integer, [](const NvtxRow& row) { return detail::if_not_0(row.category); }),
            column("color", integer, [](const NvtxRow& row) { return detail::if_not_0(row.colour); }),
            column("text", "TEXT", &detail::plain_name),
            column("globalTid", integer, detail::thread_of(&NvtxRow::thread)),
            column("endGlobalTid", integer,
                   [](const NvtxRow& row) {
                       return row.end_thread == 0 ? std::nullopt
                                                  : std::optional(ThreadNumber{row.end_thread});
                   }),
            column("textId", integer, &detail::registered_name),
            column("domainId", integer, &NvtxRow::domain),
            column("uint64Value", integer, &detail::payload<Payload::uint64>),
            column("int64Value", integer, &detail::payload<Payload::int64>),
            column("doubleValue", "REAL", &detail::payload<Payload::float64>),
            column("uint32Value", integer, &detail::payload<Payload::uint32>),
            column("int32Value", integer, &detail::payload<Payload::int32>),
            column("floatValue", "REAL", &detail::payload<Payload::float32>),
            column("jsonTextId", integer, detail::nothing), column("jsonText", "TEXT", detail::nothing));
    }
};

template <>
struct Table<NodeRow> {
    static constexpr const char* name = "SPNG_NODE";
    static constexpr bool always = true;
    static constexpr const char* order = "id";
    static constexpr auto columns() {
        return std::make_tuple(
            column("id", needed, &NodeRow::id),
            column("type", "TEXT", [](const NodeRow& row) { return Spelled{row.type}; }),
            column("name", "TEXT", [](const NodeRow& row) { return Spelled{row.instance}; }),
            column("kind", "TEXT", [](const NodeRow& row) { return Spelled{row.kind}; }),
            column("parent", integer, &NodeRow::parent));
    }
};

template <>
struct Table<EdgeRow> {
    static constexpr const char* name = "SPNG_EDGE";
    static constexpr bool always = true;
    static constexpr const char* order = "id";
    static constexpr auto columns() {
        return std::make_tuple(
            column("id", needed, &EdgeRow::id), column("tail", needed, &EdgeRow::tail_node),
            column("tailPort", needed, &EdgeRow::tail_port), column("head", needed, &EdgeRow::head_node),
            column("headPort", needed, &EdgeRow::head_port));
    }
};

template <>
struct Table<CallRow> {
    static constexpr const char* name = "SPNG_CALL";
    static constexpr bool always = true;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        return std::make_tuple(
            column("id", needed, &CallRow::id), column("node", needed, &CallRow::node),
            column("event", needed, &CallRow::event), column("seq", needed, &CallRow::sequence),
            column("globalTid", integer, detail::thread_of(&CallRow::thread)),
            column("start", needed, &CallRow::start), column("end", needed, &CallRow::end),
            column("ok", needed, &CallRow::succeeded), column("bytes_in", needed, &CallRow::bytes_in),
            column("bytes_out", needed, &CallRow::bytes_out), column("rss", integer, &CallRow::resident),
            column("cuda_alloc_peak", integer, &CallRow::device_peak),
            column("parent", integer, &CallRow::parent), column("cpu", integer, &CallRow::cpu),
            column("host_alloc_peak", integer, &CallRow::host_peak),
            column("leaf_operations", integer, &CallRow::leaf_operations));
    }
};

template <>
struct Table<CallDeviceRow> {
    static constexpr const char* name = "SPNG_CALL_DEVICE";
    static constexpr bool always = false;
    static constexpr const char* order = "call";
    static constexpr auto columns() {
        return std::make_tuple(column("call", needed, &CallDeviceRow::call),
                               column("device", needed, &CallDeviceRow::device));
    }
};

template <>
struct Table<MessageRow> {
    static constexpr const char* name = "SPNG_MSG";
    static constexpr bool always = true;
    static constexpr const char* order = "enq";
    static constexpr auto columns() {
        return std::make_tuple(
            column("edge", needed, &MessageRow::edge), column("event", needed, &MessageRow::event),
            column("enq", needed, &MessageRow::enqueued), column("deq", needed, &MessageRow::dequeued));
    }
};

template <>
struct Table<SampleRow> {
    static constexpr const char* name = "SPNG_SAMPLE";
    static constexpr bool always = false;
    static constexpr const char* order = "t";
    static constexpr auto columns() {
        return std::make_tuple(
            column("t", needed, &SampleRow::time),
            column("source", "TEXT", [](const SampleRow& row) { return Spelled{row.source}; }),
            column("metric", "TEXT", [](const SampleRow& row) { return Spelled{row.metric}; }),
            column("value", "REAL", &SampleRow::value));
    }
};

template <>
struct Table<DiagnosticRow> {
    static constexpr const char* name = "DIAGNOSTIC_EVENT";
    static constexpr bool always = true;
    static constexpr const char* order = "timestamp";
    static constexpr auto columns() {
        return std::make_tuple(
            column("timestamp", needed, &DiagnosticRow::time),
            column("timestampType", needed, [](const DiagnosticRow&) { return std::int64_t{1}; }),
            column("source", needed, [](const DiagnosticRow&) { return std::int64_t{4}; }),
            column("severity", needed, &DiagnosticRow::severity),
            column("text", "TEXT", [](const DiagnosticRow& row) { return Spelled{row.text}; }),
            column("globalPid", integer, detail::this_process));
    }
};

template <>
struct Table<OverheadRow> {
    static constexpr const char* name = "PROFILER_OVERHEAD";
    static constexpr bool always = true;
    static constexpr const char* order = "start";
    static constexpr auto columns() {
        return std::make_tuple(
            column("start", needed, &OverheadRow::start), column("end", needed, &OverheadRow::end),
            column("globalTid", integer, detail::thread_of(&OverheadRow::thread)),
            column("nameId", needed, &OverheadRow::name),
            column("returnValue", needed, [](const OverheadRow&) { return std::int64_t{0}; }));
    }
};

template <>
struct Table<SystemCallRow> {
    static constexpr const char* name = "OSRT_API";
    static constexpr bool always = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        return std::make_tuple(
            column("start", needed, &SystemCallRow::start), column("end", needed, &SystemCallRow::end),
            column("eventClass", needed, [](const SystemCallRow&) { return std::int64_t{27}; }),
            column("globalTid", integer, detail::thread_of(&SystemCallRow::thread)),
            column("nameId", needed, &SystemCallRow::name),
            column("returnValue", needed, &SystemCallRow::result),
            column("nestingLevel", integer, detail::nothing),
            column("callchainId", needed, [](const SystemCallRow&) { return std::int64_t{0}; }));
    }
};

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
