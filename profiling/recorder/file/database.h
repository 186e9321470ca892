// SPDX-License-Identifier: Apache-2.0
#pragma once
// SQLite with errors as exceptions. Files are opened without file locks, which cluster file systems often
// reject. No other process uses them: their names contain the process id.

#include "profiling/recorder/file/values.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace spng::recorder {

/// Error of SQLite, with the operation that failed.
class DatabaseError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Connection to an SQLite file. All functions throw DatabaseError.
class Database {
public:
    /// read: as if nobody else could change the file, so that nothing is written beside it
    enum class Mode { create, existing, read };
    Database(const std::string& path, Mode mode);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Run one or more statements without results.
    void run(const std::string& sql);
    /// Return the first column of the first result row, or nothing without a row.
    std::optional<std::int64_t> integer(const std::string& sql);
    /// Return the first column of the first result row as text, or nothing without a row.
    std::optional<std::string> text(const std::string& sql);
    bool has_table(const std::string& name);
    /// Close the file. Do nothing if it is closed.
    void close();

    sqlite3* handle() const { return m_handle; }
    /// Throw DatabaseError with SQLite's last error.
    /// @param what  operation that failed, such as "writing"
    [[noreturn]] void fail(const std::string& what) const;

private:
    std::string m_path;
    sqlite3* m_handle = nullptr;
};

/// Return the text as an SQL string literal.
std::string quoted(const std::string& text);

/// Prepared statement.
class Statement {
public:
    Statement(Database& database, const std::string& sql);
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;

    /// Bind a value to a parameter. Parameters count from 1.
    void bind(int column, std::int64_t value);
    void bind(int column, double value);
    void bind(int column, const std::string& value);
    void bind(int column, Null);

    /// Run the statement with the bound values and reset it for the next run.
    void run();
    /// Advance to the next result row.
    /// @return false at the end
    bool step();
    /// Return a column of the current result row. Columns count from 0.
    std::int64_t integer(int column) const;
    std::string text(int column) const;

private:
    Database& m_database;
    sqlite3_stmt* m_handle = nullptr;
};

} // namespace spng::recorder
