// SPDX-License-Identifier: Apache-2.0
#pragma once
// Types of rows: one struct per table. columns.h describes tables and columns.
//
// To add a type of row, add its struct here, its columns in device_tables.h or tables.h and its type to
// AllRows.

#include "profiling/recorder/file/values.h"

#include <cstdint>
#include <optional>
#include <tuple>

namespace spng::recorder {

using Count = std::optional<std::int64_t>; ///< empty: not measured, written as NULL

// ---- ranges and marks ----

/// Kinds of rows in NVTX_EVENTS, with the values of nsys.
enum class NvtxKind : std::uint8_t {
    category = 33,
    mark = 34,
    thread_name = 39,
    push_pop = 59,
    start_end = 60,
    domain_create = 75,
    domain_destroy = 76
};

enum class Payload : std::uint8_t { none, uint64, int64, float64, uint32, int32, float32 };

/// Range, mark, or name of a thread, category or domain.
struct NvtxRow {
    TimePoint start;
    TimePoint end;             ///< ranges only
    std::uint64_t payload = 0; ///< bits of the value
    std::uint32_t range = 0;   ///< id of a start/end range
    StringId name;
    std::uint32_t colour = 0; ///< ARGB, 0 for none
    std::uint32_t category = 0;
    std::uint32_t thread = 0;     ///< thread that began the range
    std::uint32_t end_thread = 0; ///< thread that ended a start/end range; 0: the same thread
    std::uint16_t domain = 0;
    NvtxKind kind = NvtxKind::push_pop;
    Payload payload_kind = Payload::none;
    bool registered_name = false;
    bool has_end = true;
};

// ---- graph and calls ----

struct NodeRow {
    std::int64_t id = 0;
    StringId type, instance, kind;
    Count parent; ///< services: id of the node that calls this one
};

struct EdgeRow {
    std::int64_t id = 0;
    std::int64_t tail_node = 0, tail_port = 0, head_node = 0, head_port = 0;
};

/// One call of a node for one event.
struct CallRow {
    std::int64_t id = 0; ///< also the external correlation id of its device work
    std::int64_t node = 0;
    std::int64_t event = 0;
    std::int64_t sequence = 0; ///< count of calls of this node that ended earlier
    std::uint32_t thread = 0;
    TimePoint start, end;
    bool succeeded = true;
    std::int64_t bytes_in = 0, bytes_out = 0;
    Count resident;        ///< resident memory of the process at the end [bytes]
    Count device_peak;     ///< maximum growth of device tensor memory [bytes]
    Count parent;          ///< id of the enclosing call
    Count cpu;             ///< processor time [ns]
    Count host_peak;       ///< maximum growth of host tensor memory [bytes]
    Count leaf_operations; ///< count of ATen operations
};

/// Call that counts for no event: of the warm-up, or during the capture of a CUDA graph, whose nodes refer to it.
struct UncountedCallRow {
    std::int64_t id = 0;
    std::int64_t node = 0;
};

/// Device time of a call, between two events of its stream. It may become available after the end of the
/// call.
struct CallDeviceRow {
    std::int64_t call = 0;
    std::int64_t device = 0; ///< [ns]
};

/// Passage of a tensor set through an edge.
struct MessageRow {
    std::int64_t edge = 0;
    std::int64_t event = 0;
    TimePoint enqueued, dequeued;
};

/// Event that ended while its recording was on or after it was switched.
struct EventRow {
    std::int64_t event = 0;
    TimePoint start, end;
    bool whole = true; ///< false: the capture window opened or closed during the event
};

// ---- counters and notes ----

struct SampleRow {
    TimePoint time;
    StringId source, metric; ///< for example "process", "resident_bytes"
    double value = 0;
};

enum class Severity : std::uint8_t { information = 1, warning = 2, error = 3 };

struct DiagnosticRow {
    TimePoint time;
    Severity severity = Severity::information;
    StringId text;
};

/// Time that the recording took on a thread of the program.
struct OverheadRow {
    TimePoint start, end;
    std::uint32_t thread = 0;
    StringId name;
};

// ---- CUDA device and API activity ----

enum class ApiClass : std::uint8_t { runtime = 0, driver = 1 };

struct ApiRow {
    TimePoint start, end;
    ApiClass api = ApiClass::runtime;
    std::uint32_t thread = 0;
    std::int64_t correlation = 0;
    StringId name; ///< with the version suffix of the API, for example "cudaLaunchKernel_v7000"
    std::int64_t result = 0;
};

/// Device, context and stream of a device operation, and the correlation id of the API call that caused it.
struct DeviceLocation {
    std::int64_t device = 0, context = 0, stream = 0, correlation = 0;
    Count graph_node;
};

struct KernelRow {
    TimePoint start, end;
    DeviceLocation location;
    StringId demangled_name, short_name, mangled_name;
    Count launch_type, cache_config;
    std::int64_t registers_per_thread = 0;
    std::int64_t grid[3]{}, block[3]{};
    std::int64_t static_shared = 0, dynamic_shared = 0, local_per_thread = 0, local_total = 0, grid_id = 0;
    Count shared_executed, shared_limit_config;
};

struct MemcpyRow {
    TimePoint start, end;
    DeviceLocation location;
    std::int64_t bytes = 0;
    std::int64_t copy_kind = 0;     ///< ENUM_CUDA_MEMCPY_OPER
    Count source_kind, target_kind; ///< ENUM_CUDA_MEM_KIND
};

struct MemsetRow {
    TimePoint start, end;
    DeviceLocation location;
    std::int64_t value = 0, bytes = 0;
    Count memory_kind; ///< ENUM_CUDA_MEM_KIND
};

struct SynchronisationRow {
    TimePoint start, end;
    DeviceLocation location;
    std::int64_t kind = 0; ///< 1 event, 2 stream waits for event, 3 stream, 4 context
    std::int64_t event = 0;
};

/// Launch of a CUDA graph, if its nodes are not recorded one by one.
struct GraphTraceRow {
    TimePoint start, end;
    DeviceLocation location;
    std::int64_t graph = 0, executable_graph = 0;
};

/// Creation of a node of a CUDA graph, or its cloning when the graph is instantiated.
struct GraphNodeRow {
    TimePoint start, end;
    std::uint32_t thread = 0;
    StringId name;
    std::int64_t node = 0;
    Count original_node;
    Count call; ///< id of the node call during which the graph node was captured
};

struct DeviceMemoryRow {
    TimePoint time;
    std::int64_t device = 0, context = 0, address = 0, bytes = 0;
    std::int64_t memory_kind = 0; ///< ENUM_CUDA_MEM_KIND
    bool is_release = false;
    Count correlation, stream;
    StringId name; ///< allocating function
};

/// Node call that an API call belongs to, also if another thread makes the API call.
struct ExternalCorrelationRow {
    std::int64_t correlation = 0;
    std::int64_t call = 0; ///< CallRow::id
};

// ---- machine ----

struct GpuRow {
    std::int64_t id = 0, cuda_device = 0;
    StringId name, bus_location, uuid, chip;
    Count total_memory, memory_bandwidth, clock_rate, sm_count, l2_cache, compute_major, compute_minor,
        max_warps_per_sm, registers_per_sm, shared_per_sm, async_engines;
};

struct CudaContextRow {
    std::int64_t null_stream = 0, device = 0, context = 0;
};

struct CudaStreamRow {
    std::int64_t stream = 0, context = 0, priority = 0, flag = 0;
};

/// All types of rows, in the order in which their tables are written.
using AllRows = std::tuple<NvtxRow, NodeRow, EdgeRow, CallRow, UncountedCallRow, CallDeviceRow, MessageRow,
                           EventRow, SampleRow, DiagnosticRow, OverheadRow, ApiRow, KernelRow, MemcpyRow,
                           MemsetRow, SynchronisationRow, GraphTraceRow, GraphNodeRow, DeviceMemoryRow,
                           ExternalCorrelationRow, GpuRow, CudaContextRow, CudaStreamRow>;

} // namespace spng::recorder
