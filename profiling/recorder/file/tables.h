// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of ranges, graph, calls, samples and diagnostics; see columns.h.

#include "profiling/recorder/file/columns.h"

#include <bit>
#include <cstdint>
#include <optional>

namespace spng::recorder {
namespace detail {

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

/// Registered names are written as an index into StringIds, others as text.
inline StringId registered_name(const NvtxRow& row) {
    return row.registered_name ? row.name : StringId{};
}
inline InlineString plain_name(const NvtxRow& row) {
    return {row.registered_name ? StringId{} : row.name};
}

} // namespace detail

template <>
struct Table<NvtxRow> {
    // A parent comes before a child that begins in the same nanosecond.
    static constexpr TableHead head{"NVTX_EVENTS", "start, end DESC", true};
    static constexpr auto columns() {
        return std::make_tuple(
            column("start", &NvtxRow::start),
            column("end", integer,
                   [](const NvtxRow& row) { return row.has_end ? std::optional(row.end) : std::nullopt; }),
            column("eventType", &NvtxRow::kind),
            column("rangeId", integer, [](const NvtxRow& row) { return null_if_zero(row.range); }),
            column("category", integer, [](const NvtxRow& row) { return null_if_zero(row.category); }),
            column("color", integer, [](const NvtxRow& row) { return null_if_zero(row.colour); }),
            column("text", "TEXT", &detail::plain_name),
            column("globalTid", integer, thread_of(&NvtxRow::thread)),
            column("endGlobalTid", integer,
                   [](const NvtxRow& row) {
                       return row.end_thread == 0 ? std::nullopt
                                                  : std::optional(GlobalThread{row.end_thread});
                   }),
            column("textId", integer, &detail::registered_name),
            column("domainId", integer, &NvtxRow::domain),
            column("uint64Value", integer, &detail::payload<Payload::uint64>),
            column("int64Value", integer, &detail::payload<Payload::int64>),
            column("doubleValue", "REAL", &detail::payload<Payload::float64>),
            column("uint32Value", integer, &detail::payload<Payload::uint32>),
            column("int32Value", integer, &detail::payload<Payload::int32>),
            column("floatValue", "REAL", &detail::payload<Payload::float32>),
            column("jsonTextId", integer, null_value), column("jsonText", "TEXT", null_value));
    }
};

template <>
struct Table<NodeRow> {
    static constexpr TableHead head{"SPNG_NODE", "id", true};
    static constexpr auto columns() {
        return std::make_tuple(
            column("id", &NodeRow::id), column("type", "TEXT", inline_string(&NodeRow::type)),
            column("name", "TEXT", inline_string(&NodeRow::instance)),
            column("kind", "TEXT", inline_string(&NodeRow::kind)), column("parent", &NodeRow::parent));
    }
};

template <>
struct Table<EdgeRow> {
    static constexpr TableHead head{"SPNG_EDGE", "id", true};
    static constexpr auto columns() {
        return std::make_tuple(column("id", &EdgeRow::id), column("tail", &EdgeRow::tail_node),
                               column("tailPort", &EdgeRow::tail_port), column("head", &EdgeRow::head_node),
                               column("headPort", &EdgeRow::head_port));
    }
};

template <>
struct Table<CallRow> {
    static constexpr TableHead head{"SPNG_CALL", "start, end DESC", true};
    static constexpr auto columns() {
        return std::make_tuple(
            column("id", &CallRow::id), column("node", &CallRow::node), column("event", &CallRow::event),
            column("seq", &CallRow::sequence), column("globalTid", integer, thread_of(&CallRow::thread)),
            column("start", &CallRow::start), column("end", &CallRow::end), column("ok", &CallRow::succeeded),
            column("bytes_in", &CallRow::bytes_in), column("bytes_out", &CallRow::bytes_out),
            column("rss", &CallRow::resident), column("cuda_alloc_peak", &CallRow::device_peak),
            column("parent", &CallRow::parent), column("cpu", &CallRow::cpu),
            column("host_alloc_peak", &CallRow::host_peak),
            column("leaf_operations", &CallRow::leaf_operations));
    }
};

template <>
struct Table<UncountedCallRow> {
    static constexpr TableHead head{"SPNG_UNCOUNTED_CALL", "id"};
    static constexpr auto columns() {
        return std::make_tuple(column("id", &UncountedCallRow::id), column("node", &UncountedCallRow::node));
    }
};

template <>
struct Table<CallDeviceRow> {
    static constexpr TableHead head{"SPNG_CALL_DEVICE", "call"};
    static constexpr auto columns() {
        return std::make_tuple(column("call", &CallDeviceRow::call),
                               column("device", &CallDeviceRow::device));
    }
};

template <>
struct Table<MessageRow> {
    static constexpr TableHead head{"SPNG_MSG", "enq", true};
    static constexpr auto columns() {
        return std::make_tuple(column("edge", &MessageRow::edge), column("event", &MessageRow::event),
                               column("enq", &MessageRow::enqueued), column("deq", &MessageRow::dequeued));
    }
};

template <>
struct Table<EventRow> {
    static constexpr TableHead head{"SPNG_EVENT", "start", true};
    static constexpr auto columns() {
        return std::make_tuple(column("event", &EventRow::event), column("globalPid", integer, this_process),
                               column("start", &EventRow::start), column("end", &EventRow::end),
                               column("whole", &EventRow::whole));
    }
};

template <>
struct Table<SampleRow> {
    static constexpr TableHead head{"SPNG_SAMPLE", "t"};
    static constexpr auto columns() {
        return std::make_tuple(column("t", &SampleRow::time),
                               column("source", "TEXT", inline_string(&SampleRow::source)),
                               column("metric", "TEXT", inline_string(&SampleRow::metric)),
                               column("value", "REAL", &SampleRow::value));
    }
};

template <>
struct Table<DiagnosticRow> {
    static constexpr TableHead head{"DIAGNOSTIC_EVENT", "timestamp", true};
    static constexpr auto columns() {
        return std::make_tuple(
            column("timestamp", &DiagnosticRow::time), column("timestampType", not_null, constant(1)),
            column("source", not_null, constant(4)), column("severity", &DiagnosticRow::severity),
            column("text", "TEXT", inline_string(&DiagnosticRow::text)),
            column("globalPid", integer, this_process));
    }
};

template <>
struct Table<OverheadRow> {
    static constexpr TableHead head{"PROFILER_OVERHEAD", "start", true};
    static constexpr auto columns() {
        return std::make_tuple(column("start", &OverheadRow::start), column("end", &OverheadRow::end),
                               column("globalTid", integer, thread_of(&OverheadRow::thread)),
                               column("nameId", &OverheadRow::name),
                               column("returnValue", not_null, constant(0)));
    }
};

} // namespace spng::recorder
