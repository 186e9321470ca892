#pragma once
// Rows into a table, column by column as tables.h and device_tables.h say.

#include "profiling/recorder/file/database.h"
#include "profiling/recorder/file/device_tables.h"
#include "profiling/recorder/file/string_table.h"
#include "profiling/recorder/file/tables.h"

#include <functional>
#include <span>
#include <string>
#include <type_traits>

namespace spng::recorder {

/// What values are written relative to.
struct Scale {
    TimePoint origin; ///< the session's start
    std::uint64_t process = 0;
    const StringTable* strings = nullptr;
};

template <class Row>
std::string create_sql(const std::string& table = Table<Row>::name) {
    std::string sql;
    std::apply(
        [&sql](const auto&... columns) {
            ((sql += (sql.empty() ? "\"" : ", \"") + std::string(columns.name) + "\" " + columns.type), ...);
        },
        Table<Row>::columns());
    return "CREATE TABLE IF NOT EXISTS " + table + " (" + sql + ")";
}

template <class Row>
class RowWriter {
public:
    static constexpr bool always = Table<Row>::always;

    /// Makes the table when it is not there.
    explicit RowWriter(Database& database, const std::string& table = Table<Row>::name)
        : m_insert(prepare(database, table)) {}

    void write(std::span<const Row> rows, const Scale& scale) {
        for (const Row& row : rows) {
            std::apply(
                [&](const auto&... columns) {
                    int number = 0;
                    (put(++number, std::invoke(columns.take, row), scale), ...);
                },
                Table<Row>::columns());
            m_insert.run();
        }
    }

private:
    static Statement prepare(Database& database, const std::string& table) {
        database.run(create_sql<Row>(table));
        std::string places;
        constexpr auto count = std::tuple_size_v<decltype(Table<Row>::columns())>;
        for (std::size_t column = 0; column < count; ++column) {
            places += column == 0 ? "?" : ", ?";
        }
        return {database, "INSERT INTO " + table + " VALUES (" + places + ")"};
    }

    template <class Value>
    void put(int column, const Value& value, const Scale& scale) {
        if constexpr (std::is_same_v<Value, Null>) {
            m_insert.bind(column, Null{});
        } else if constexpr (std::is_same_v<Value, TimePoint>) {
            m_insert.bind(column, value.ns - scale.origin.ns);
        } else if constexpr (std::is_same_v<Value, StringId>) {
            value.number == 0 ? m_insert.bind(column, Null{})
                              : m_insert.bind(column, std::int64_t{value.number});
        } else if constexpr (std::is_same_v<Value, Spelled>) {
            value.id.number == 0 ? m_insert.bind(column, Null{})
                                 : m_insert.bind(column, scale.strings->at(value.id));
        } else if constexpr (std::is_same_v<Value, ThreadNumber>) {
            m_insert.bind(column, static_cast<std::int64_t>(global_thread(scale.process, value.thread)));
        } else if constexpr (std::is_same_v<Value, ThisProcess>) {
            m_insert.bind(column, static_cast<std::int64_t>(global_process(scale.process)));
        } else if constexpr (std::is_floating_point_v<Value>) {
            m_insert.bind(column, static_cast<double>(value));
        } else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
            m_insert.bind(column, static_cast<std::int64_t>(value));
        } else if (value.has_value()) {
            put(column, *value, scale);
        } else {
            m_insert.bind(column, Null{});
        }
    }

    Statement m_insert;
};

} // namespace spng::recorder
