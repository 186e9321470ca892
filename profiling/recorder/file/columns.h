#pragma once
// Which table and which columns a row becomes. Names, order and meaning of the columns of NVTX_EVENTS,
// CUPTI_* and the other tables in capitals without SPNG_ are those of the SQLite export of Nsight Systems
// 2023.4 (schema 3.7.2), so that its readers read our files; tables SPNG_* are our own.
//
// A column is a name, a declaration and what to take from a row: a member, or a function of it.

#include "profiling/recorder/file/identity.h"
#include "profiling/recorder/file/rows.h"

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

inline std::optional<std::int64_t> if_not_0(std::int64_t value) {
    return value == 0 ? std::nullopt : std::optional(value);
}

} // namespace detail

} // namespace spng::recorder
