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
    static constexpr const char* name = "NVTX_EVENTS";
    static constexpr bool create_at_start = true;
    // A parent comes before a child that begins in the same nanosecond.
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        return std::make_tuple(
            column("start", not_null, &NvtxRow::start),
            column("end", integer,
                   [](const NvtxRow& row) { return row.has_end ? std::optional(row.end) : std::nullopt; }),
            column("eventType", not_null, &NvtxRow::kind),
            column("rangeId", integer, [](const NvtxRow& row) { return detail::null_if_zero(row.range); }),
            column("category", integer,
                   [](const NvtxRow& row) { return detail::null_if_zero(row.category); }),
            column("color", integer, [](const NvtxRow& row) { return detail::null_if_zero(row.colour); }),
            column("text", "TEXT", &detail::plain_name),
            column("globalTid", integer, detail::thread_of(&NvtxRow::thread)),
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
            column("jsonTextId", integer, detail::null_value),
            column("jsonText", "TEXT", detail::null_value));
    }
};

template <>
struct Table<NodeRow> {
    static constexpr const char* name = "SPNG_NODE";
    static constexpr bool create_at_start = true;
    static constexpr const char* order = "id";
    static constexpr auto columns() {
        return std::make_tuple(
            column("id", not_null, &NodeRow::id),
            column("type", "TEXT", [](const NodeRow& row) { return InlineString{row.type}; }),
            column("name", "TEXT", [](const NodeRow& row) { return InlineString{row.instance}; }),
            column("kind", "TEXT", [](const NodeRow& row) { return InlineString{row.kind}; }),
            column("parent", integer, &NodeRow::parent));
    }
};

template <>
struct Table<EdgeRow> {
    static constexpr const char* name = "SPNG_EDGE";
    static constexpr bool create_at_start = true;
    static constexpr const char* order = "id";
    static constexpr auto columns() {
        return std::make_tuple(
            column("id", not_null, &EdgeRow::id), column("tail", not_null, &EdgeRow::tail_node),
            column("tailPort", not_null, &EdgeRow::tail_port), column("head", not_null, &EdgeRow::head_node),
            column("headPort", not_null, &EdgeRow::head_port));
    }
};

template <>
struct Table<CallRow> {
    static constexpr const char* name = "SPNG_CALL";
    static constexpr bool create_at_start = true;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        return std::make_tuple(
            column("id", not_null, &CallRow::id), column("node", not_null, &CallRow::node),
            column("event", not_null, &CallRow::event), column("seq", not_null, &CallRow::sequence),
            column("globalTid", integer, detail::thread_of(&CallRow::thread)),
            column("start", not_null, &CallRow::start), column("end", not_null, &CallRow::end),
            column("ok", not_null, &CallRow::succeeded), column("bytes_in", not_null, &CallRow::bytes_in),
            column("bytes_out", not_null, &CallRow::bytes_out), column("rss", integer, &CallRow::resident),
            column("cuda_alloc_peak", integer, &CallRow::device_peak),
            column("parent", integer, &CallRow::parent), column("cpu", integer, &CallRow::cpu),
            column("host_alloc_peak", integer, &CallRow::host_peak),
            column("leaf_operations", integer, &CallRow::leaf_operations));
    }
};

template <>
struct Table<CallDeviceRow> {
    static constexpr const char* name = "SPNG_CALL_DEVICE";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "call";
    static constexpr auto columns() {
        return std::make_tuple(column("call", not_null, &CallDeviceRow::call),
                               column("device", not_null, &CallDeviceRow::device));
    }
};

template <>
struct Table<MessageRow> {
    static constexpr const char* name = "SPNG_MSG";
    static constexpr bool create_at_start = true;
    static constexpr const char* order = "enq";
    static constexpr auto columns() {
        return std::make_tuple(
            column("edge", not_null, &MessageRow::edge), column("event", not_null, &MessageRow::event),
            column("enq", not_null, &MessageRow::enqueued), column("deq", not_null, &MessageRow::dequeued));
    }
};

template <>
struct Table<SampleRow> {
    static constexpr const char* name = "SPNG_SAMPLE";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "t";
    static constexpr auto columns() {
        return std::make_tuple(
            column("t", not_null, &SampleRow::time),
            column("source", "TEXT", [](const SampleRow& row) { return InlineString{row.source}; }),
            column("metric", "TEXT", [](const SampleRow& row) { return InlineString{row.metric}; }),
            column("value", "REAL", &SampleRow::value));
    }
};

template <>
struct Table<DiagnosticRow> {
    static constexpr const char* name = "DIAGNOSTIC_EVENT";
    static constexpr bool create_at_start = true;
    static constexpr const char* order = "timestamp";
    static constexpr auto columns() {
        return std::make_tuple(
            column("timestamp", not_null, &DiagnosticRow::time),
            column("timestampType", not_null, [](const DiagnosticRow&) { return std::int64_t{1}; }),
            column("source", not_null, [](const DiagnosticRow&) { return std::int64_t{4}; }),
            column("severity", not_null, &DiagnosticRow::severity),
            column("text", "TEXT", [](const DiagnosticRow& row) { return InlineString{row.text}; }),
            column("globalPid", integer, detail::this_process));
    }
};

template <>
struct Table<OverheadRow> {
    static constexpr const char* name = "PROFILER_OVERHEAD";
    static constexpr bool create_at_start = true;
    static constexpr const char* order = "start";
    static constexpr auto columns() {
        return std::make_tuple(
            column("start", not_null, &OverheadRow::start), column("end", not_null, &OverheadRow::end),
            column("globalTid", integer, detail::thread_of(&OverheadRow::thread)),
            column("nameId", not_null, &OverheadRow::name),
            column("returnValue", not_null, [](const OverheadRow&) { return std::int64_t{0}; }));
    }
};

template <>
struct Table<SystemCallRow> {
    static constexpr const char* name = "OSRT_API";
    static constexpr bool create_at_start = false;
    static constexpr const char* order = "start, end DESC";
    static constexpr auto columns() {
        return std::make_tuple(
            column("start", not_null, &SystemCallRow::start), column("end", not_null, &SystemCallRow::end),
            column("eventClass", not_null, [](const SystemCallRow&) { return std::int64_t{27}; }),
            column("globalTid", integer, detail::thread_of(&SystemCallRow::thread)),
            column("nameId", not_null, &SystemCallRow::name),
            column("returnValue", not_null, &SystemCallRow::result),
            column("nestingLevel", integer, detail::null_value),
            column("callchainId", not_null, [](const SystemCallRow&) { return std::int64_t{0}; }));
    }
};

} // namespace spng::recorder
