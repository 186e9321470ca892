#pragma once
// Ranges, the graph and its calls, counters and notes; see columns.h.

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

/// Only registered names are referred to; others are spelled out.
inline StringId registered_name(const NvtxRow& row) {
    return row.registered_name ? row.name : StringId{};
}
inline Spelled plain_name(const NvtxRow& row) {
    return {row.registered_name ? StringId{} : row.name};
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

} // namespace spng::recorder
