#pragma once
// What can be recorded: one struct per table. columns.h says how its columns are given.
//
// A new source of data adds its struct here, its columns in device_tables.h or tables.h and its type to the
// list at the end.

#include "profiling/recorder/file/values.h"

#include <cstdint>
#include <optional>
#include <tuple>

namespace spng::recorder {

using Count = std::optional<std::int64_t>; ///< NULL where it was not measured

// ---- ranges and marks ----

/// Kinds of rows in NVTX_EVENTS; the numbers are nsys's.
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

/// A range, a mark, or a name that was given to a thread, category or domain.
struct NvtxRow {
    TimePoint start;
    TimePoint end;             ///< of ranges only
    std::uint64_t payload = 0; ///< the bits of the value
    std::uint32_t range = 0;   ///< number of a start/end range
    StringId name;
    std::uint32_t colour = 0; ///< ARGB; 0: none
    std::uint32_t category = 0;
    std::uint32_t thread = 0;     ///< where it was begun
    std::uint32_t end_thread = 0; ///< where a start/end range ended, if elsewhere; 0: on the same
    std::uint16_t domain = 0;
    NvtxKind kind = NvtxKind::push_pop;
    Payload payload_kind = Payload::none;
    bool registered_name = false;
    bool has_end = true;
};

// ---- the graph and its calls ----

struct NodeRow {
    std::int64_t id = 0;
    StringId type, instance, kind;
    Count parent; ///< the node that calls this one, for services
};

struct EdgeRow {
    std::int64_t id = 0;
    std::int64_t tail_node = 0, tail_port = 0, head_node = 0, head_port = 0;
};

/// One call of a node for one event.
struct CallRow {
    std::int64_t id = 0; ///< also the external correlation id of what a device did for it
    std::int64_t node = 0;
    std::int64_t event = 0;
    std::int64_t sequence = 0; ///< how many calls of this node ended before
    std::uint32_t thread = 0;
    TimePoint start, end;
    bool succeeded = true;
    std::int64_t bytes_in = 0, bytes_out = 0;
    Count resident;        ///< memory of the process at the end, bytes
    Count device_peak;     ///< growth of device tensor memory at most, bytes
    Count parent;          ///< the call that this one is nested in
    Count cpu;             ///< processor time, ns
    Count host_peak;       ///< growth of host tensor memory at most, bytes
    Count leaf_operations; ///< ATen
};

/// How long a call took on the device, between two events of its stream; known later than its end.
struct CallDeviceRow {
    std::int64_t call = 0;
    std::int64_t device = 0; ///< ns
};

/// A tensor set on an edge.
struct MessageRow {
    std::int64_t edge = 0;
    std::int64_t event = 0;
    TimePoint enqueued, dequeued;
};

// ---- counters and notes ----

struct SampleRow {
    TimePoint time;
    StringId source, metric; ///< "process", "resident_bytes"
    double value = 0;
};

enum class Severity : std::uint8_t { information = 1, warning = 2, error = 3 };

struct DiagnosticRow {
    TimePoint time;
    Severity severity = Severity::information;
    StringId text;
};

/// Time that recording itself took on a thread of the program.
struct OverheadRow {
    TimePoint start, end;
    std::uint32_t thread = 0;
    StringId name;
};

/// A call into the system: read, write, ...
struct SystemCallRow {
    TimePoint start, end;
    std::uint32_t thread = 0;
    StringId name;
    std::int64_t result = 0;
};

// ---- what a CUDA device and its API did ----

enum class ApiClass : std::uint8_t { runtime = 0, driver = 1 };

struct ApiRow {
    TimePoint start, end;
    ApiClass api = ApiClass::runtime;
    std::uint32_t thread = 0;
    std::int64_t correlation = 0;
    StringId name; ///< with the version suffix of its interface, "cudaLaunchKernel_v7000"
    std::int64_t result = 0;
};

/// Where a device operation ran, and which API call caused it.
struct DevicePlace {
    std::int64_t device = 0, context = 0, stream = 0, correlation = 0;
    Count graph_node;
};

struct KernelRow {
    TimePoint start, end;
    DevicePlace place;
    StringId demangled_name, short_name, mangled_name;
    Count launch_type, cache_config;
    std::int64_t registers_per_thread = 0;
    std::int64_t grid[3]{}, block[3]{};
    std::int64_t static_shared = 0, dynamic_shared = 0, local_per_thread = 0, local_total = 0, grid_id = 0;
    Count shared_executed, shared_limit_config;
};

struct MemcpyRow {
    TimePoint start, end;
    DevicePlace place;
    std::int64_t bytes = 0;
    std::int64_t copy_kind = 0;     ///< ENUM_CUDA_MEMCPY_OPER
    Count source_kind, target_kind; ///< ENUM_CUDA_MEM_KIND
};

struct MemsetRow {
    TimePoint start, end;
    DevicePlace place;
    std::int64_t value = 0, bytes = 0;
    Count memory_kind; ///< ENUM_CUDA_MEM_KIND
};

struct SynchronisationRow {
    TimePoint start, end;
    DevicePlace place;
    std::int64_t kind = 0; ///< 1 event, 2 stream waits for event, 3 stream, 4 context
    std::int64_t event = 0;
};

struct CudaEventRow {
    DevicePlace place;
    std::int64_t event = 0;
};

/// A whole graph launch, where its nodes are not recorded one by one.
struct GraphTraceRow {
    TimePoint start, end;
    DevicePlace place;
    std::int64_t graph = 0, executable_graph = 0;
};

/// A node of a CUDA graph was made, or cloned when the graph was instantiated.
struct GraphNodeRow {
    TimePoint start, end;
    std::uint32_t thread = 0;
    StringId name;
    std::int64_t node = 0;
    Count original_node;
    Count call; ///< the node call during which it was captured
};

struct DeviceMemoryRow {
    TimePoint time;
    std::int64_t device = 0, context = 0, address = 0, bytes = 0;
    std::int64_t memory_kind = 0; ///< ENUM_CUDA_MEM_KIND
    bool is_release = false;
    Count correlation, stream;
    StringId name; ///< of the allocating function
};

/// Which node call an API call was made for, also when another thread makes it.
struct ExternalCorrelationRow {
    std::int64_t correlation = 0;
    std::int64_t call = 0; ///< CallRow::id
};

// ---- the machine ----

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

/// All of them, in the order in which their tables are written.
using AllRows = std::tuple<NvtxRow, NodeRow, EdgeRow, CallRow, CallDeviceRow, MessageRow, SampleRow,
                           DiagnosticRow, OverheadRow, SystemCallRow, ApiRow, KernelRow, MemcpyRow, MemsetRow,
                           SynchronisationRow, CudaEventRow, GraphTraceRow, GraphNodeRow, DeviceMemoryRow,
                           ExternalCorrelationRow, GpuRow, CudaContextRow, CudaStreamRow>;

} // namespace spng::recorder
