// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writer of rows into a table. tables.h and device_tables.h describe the columns.

#include "profiling/recorder/file/database.h"
#include "profiling/recorder/file/device_tables.h"
#include "profiling/recorder/file/string_table.h"
#include "profiling/recorder/file/tables.h"

#include <functional>
#include <span>
#include <string>
#include <type_traits>

namespace spng::recorder {

/// Context for the conversion of values to columns.
struct WriteContext {
    TimePoint origin; ///< start of the session; times are written relative to it
    std::uint64_t process = 0;
    const StringTable* strings = nullptr;
};

/// Return the CREATE TABLE statement for a type of row.
template <class Row>
std::string create_sql(const std::string& table = Table<Row>::head.name) {
    std::string sql;
    std::apply(
        [&sql](const auto&... columns) {
            ((sql += (sql.empty() ? "\"" : ", \"") + std::string(columns.name) + "\" " + columns.type), ...);
        },
        Table<Row>::columns());
    return "CREATE TABLE IF NOT EXISTS " + table + " (" + sql + ")";
}

/// Prepared INSERT statement for a type of row.
template <class Row>
class RowWriter {
public:
    static constexpr bool create_at_start = Table<Row>::head.create_at_start;

    /// Create the table if it does not exist.
    explicit RowWriter(Database& database, const std::string& table = Table<Row>::head.name)
        : m_insert(prepare(database, table)) {}

    void write(std::span<const Row> rows, const WriteContext& context) {
        for (const Row& row : rows) {
            std::apply(
                [&](const auto&... columns) {
                    int column = 0;
                    (put(++column, std::invoke(columns.take, row), context), ...);
                },
                Table<Row>::columns());
            m_insert.run();
        }
    }

private:
    static Statement prepare(Database& database, const std::string& table) {
        database.run(create_sql<Row>(table));
        std::string placeholders;
        constexpr auto count = std::tuple_size_v<decltype(Table<Row>::columns())>;
        for (std::size_t column = 0; column < count; ++column) {
            placeholders += column == 0 ? "?" : ", ?";
        }
        return {database, "INSERT INTO " + table + " VALUES (" + placeholders + ")"};
    }

    template <class Value>
    void put(int column, const Value& value, const WriteContext& context) {
        if constexpr (std::is_same_v<Value, Null>) {
            m_insert.bind(column, Null{});
        } else if constexpr (std::is_same_v<Value, TimePoint>) {
            m_insert.bind(column, value.ns - context.origin.ns);
        } else if constexpr (std::is_same_v<Value, StringId>) {
            value.index == 0 ? m_insert.bind(column, Null{})
                             : m_insert.bind(column, std::int64_t{value.index});
        } else if constexpr (std::is_same_v<Value, InlineString>) {
            value.id.index == 0 ? m_insert.bind(column, Null{})
                                : m_insert.bind(column, context.strings->at(value.id));
        } else if constexpr (std::is_same_v<Value, GlobalThread>) {
            m_insert.bind(column, static_cast<std::int64_t>(global_thread(context.process, value.thread)));
        } else if constexpr (std::is_same_v<Value, ThisProcess>) {
            m_insert.bind(column, static_cast<std::int64_t>(global_process(context.process)));
        } else if constexpr (std::is_floating_point_v<Value>) {
            m_insert.bind(column, static_cast<double>(value));
        } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
            m_insert.bind(column, static_cast<std::int64_t>(value));
        } else if (value.has_value()) {
            put(column, *value, context);
        } else {
            m_insert.bind(column, Null{});
        }
    }

    Statement m_insert;
};

} // namespace spng::recorder
