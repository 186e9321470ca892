#pragma once
// SQLite with errors as exceptions. Files are the recorder's alone, named after the process, so they are
// opened without file locks: cluster file systems often reject them.

#include "profiling/recorder/file/values.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace spng::recorder {

/// SQLite's reason with what was attempted; full() when the disk or a quota is.
class DatabaseError : public std::runtime_error {
public:
    DatabaseError(const std::string& text, bool is_full) : std::runtime_error(text), m_full(is_full) {}
    bool full() const { return m_full; }

private:
    bool m_full;
};

class Database {
public:
    enum class Mode { create, existing };
    Database(const std::string& path, Mode mode);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// One or more statements without results.
    void run(const std::string& sql);
    /// The first column of the first row; nothing without a row or for NULL.
    std::optional<std::int64_t> integer(const std::string& sql);
    std::optional<std::string> text(const std::string& sql);
    bool has_table(const std::string& name);
    /// Close now; throws what closing finds. Does nothing when closed.
    void close();

    sqlite3* handle() const { return m_handle; }
    [[noreturn]] void fail(const std::string& what) const;

private:
    std::string m_path;
    sqlite3* m_handle = nullptr;
};

/// `text` in SQL, in single quotes.
std::string quoted(const std::string& text);

class Statement {
public:
    Statement(Database& database, const std::string& sql);
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;

    /// Columns count from 1.
    void bind(int column, std::int64_t value);
    void bind(int column, double value);
    void bind(int column, const std::string& value);
    void bind(int column, Null);

    /// Run it once with what is bound, and make it ready for the next time.
    void run();
    /// The next row of results; false at the end.
    bool step();
    std::int64_t integer(int column) const; ///< columns of results count from 0
    std::string text(int column) const;

private:
    Database& m_database;
    sqlite3_stmt* m_handle = nullptr;
};

} // namespace spng::recorder
