// SPDX-License-Identifier: Apache-2.0
#pragma once
// Description of tables and columns. NVTX_EVENTS, CUPTI_* and the other tables in capitals without SPNG_ have
// the names, order and meaning of the SQLite export of Nsight Systems 2023.4 (schema 3.7.2), so that its
// readers can read our files. Tables SPNG_* are our own.
//
// A column has a name, an SQL type and a getter: a member of the row or a function of the row.

#include "profiling/recorder/file/identity.h"
#include "profiling/recorder/file/rows.h"

#include <string>
#include <tuple>
#include <type_traits>

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

inline constexpr const char* not_null = "INTEGER NOT NULL";
inline constexpr const char* integer = "INTEGER";

/// Column of a member; NULL is allowed for a Count.
template <class Row, class Value>
constexpr auto column(const char* name, Value Row::*member) {
    return column(name, std::is_same_v<Value, Count> ? integer : not_null, member);
}

/// System id of a thread, written as globalTid.
struct GlobalThread {
    std::uint32_t thread;
};
/// The process of the session, written as globalPid.
struct ThisProcess {};

struct TableHead {
    const char* name;
    const char* order; ///< SQL sort order of the rows in the final file
    /// True: created at the start of each session. False: created with its first row, so that tables of parts
    /// that are not recorded are absent.
    bool create_at_start = false;
};

/// Table of a type of row. Specializations have `head`, a TableHead, and columns(), a tuple of Column.
template <class Row>
struct Table;

template <class Row>
constexpr auto thread_of(std::uint32_t Row::*member) {
    return [member](const Row& row) { return GlobalThread{row.*member}; };
}

template <class Row>
constexpr auto inline_string(StringId Row::*member) {
    return [member](const Row& row) { return InlineString{row.*member}; };
}

constexpr auto constant(std::int64_t value) {
    return [value](const auto&) { return value; };
}

constexpr auto this_process = [](const auto&) { return ThisProcess{}; };
constexpr auto null_value = [](const auto&) { return Null{}; };

inline std::optional<std::int64_t> null_if_zero(std::int64_t value) {
    return value == 0 ? std::nullopt : std::optional(value);
}

} // namespace spng::recorder
