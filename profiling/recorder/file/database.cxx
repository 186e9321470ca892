// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/file/database.h"

#include "spng/core/printable.h"

#include <sqlite3.h>

#include <array>
#include <cstdio>
#include <utility>

namespace spng::recorder {
namespace {

/// Return the URI of a file that nobody changes.
std::string unchanged_uri(const std::string& path) {
    std::string uri = "file:";
    for (const char letter : path) {
        std::array<char, 4> escaped{};
        std::snprintf(escaped.data(), escaped.size(), "%%%02x", static_cast<unsigned char>(letter));
        uri += letter == '/' ? "/" : escaped.data();
    }
    return uri + "?immutable=1";
}

} // namespace

Database::Database(const std::string& path, Mode mode) : m_path(path) {
    const bool reads = mode == Mode::read;
    const int flags = SQLITE_OPEN_NOMUTEX |
                      (reads ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE) |
                      (mode == Mode::create ? SQLITE_OPEN_CREATE : 0);
    const std::string name = reads ? unchanged_uri(path) : path;
    if (sqlite3_open_v2(name.c_str(), &m_handle, flags, "unix-none") != SQLITE_OK) {
        const std::string reason = m_handle == nullptr ? "no memory" : sqlite3_errmsg(m_handle);
        sqlite3_close(m_handle);
        throw DatabaseError(path + " cannot be opened: " + reason);
    }
    // A write-ahead log without file locks needs the exclusive mode, also for files attached later. SQLite
    // opens the file with the first statement that reads it.
    run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA schema_version");
}

Database::~Database() {
    sqlite3_close(m_handle);
}

void Database::close() {
    if (m_handle != nullptr && sqlite3_close(m_handle) != SQLITE_OK) {
        fail("closing");
    }
    m_handle = nullptr;
}

void Database::fail(const std::string& what) const {
    throw DatabaseError(what + " " + m_path + ": " + sqlite3_errmsg(m_handle));
}

void Database::run(const std::string& sql) {
    if (sqlite3_exec(m_handle, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail("writing");
    }
}

std::optional<std::int64_t> Database::integer(const std::string& sql) {
    Statement statement(*this, sql);
    return statement.step() ? std::optional(statement.integer(0)) : std::nullopt;
}

std::optional<std::string> Database::text(const std::string& sql) {
    Statement statement(*this, sql);
    return statement.step() ? std::optional(statement.text(0)) : std::nullopt;
}

bool Database::has_table(const std::string& name) {
    return integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = " + quoted(name)).has_value();
}

std::string quoted(const std::string& text) {
    std::string sql = "'";
    for (const char letter : text) {
        sql += letter;
        if (letter == '\'') {
            sql += letter;
        }
    }
    return sql + "'";
}

Statement::Statement(Database& database, const std::string& sql) : m_database(database) {
    if (sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &m_handle, nullptr) != SQLITE_OK) {
        database.fail("preparing '" + sql + "' for");
    }
}

Statement::~Statement() {
    sqlite3_finalize(m_handle);
}

Statement::Statement(Statement&& other) noexcept
    : m_database(other.m_database), m_handle(std::exchange(other.m_handle, nullptr)) {}

void Statement::bind(int column, std::int64_t value) {
    sqlite3_bind_int64(m_handle, column, value);
}

void Statement::bind(int column, double value) {
    sqlite3_bind_double(m_handle, column, value);
}

void Statement::bind(int column, const std::string& value) {
    const std::string text = valid_utf8(value); // readers reject a whole file for one byte
    sqlite3_bind_text(m_handle, column, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

void Statement::bind(int column, Null) {
    sqlite3_bind_null(m_handle, column);
}

void Statement::run() {
    step();
    sqlite3_reset(m_handle);
}

bool Statement::step() {
    switch (sqlite3_step(m_handle)) {
    case SQLITE_ROW:
        return true;
    case SQLITE_DONE:
        return false;
    default:
        m_database.fail("writing");
    }
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(m_handle, column);
}

std::string Statement::text(int column) const {
    const auto* text = sqlite3_column_text(m_handle, column);
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

} // namespace spng::recorder
