// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/file/finalize_file.h"

#include "profiling/recorder/file/part_file.h"
#include "profiling/recorder/file/replaced_file.h"
#include "profiling/recorder/file/session_tables.h"
#include "spng/core/error.h"
#include "spng/core/files/output_path.h"
#include "spng/core/files/temporary_files.h"
#include "spng/core/printable.h"

#include <cstdio>
#include <filesystem>
#include <regex>

namespace spng::recorder {
namespace {

std::string copy_sql(const std::string& table, const std::string& order) {
    return "INSERT INTO main." + table + " SELECT * FROM part." + table + " ORDER BY " + order;
}

template <class Row>
void copy_table(Database& database, bool is_there) {
    if (is_there) {
        database.run(create_sql<Row>() + ";" + copy_sql(Table<Row>::head.name, Table<Row>::head.order));
    }
}

/// Merge ended and open NVTX ranges, which come from two tables.
template <>
void copy_table<NvtxRow>(Database& database, bool) {
    const std::string closed_now = "(SELECT MAX((SELECT CAST(value AS INTEGER) FROM part.SPNG_RUN WHERE key "
                                   "= 'stop_ns'), start))";
    std::string columns;
    std::apply(
        [&columns, &closed_now](const auto&... column) {
            ((columns +=
              (columns.empty() ? "" : ", ") +
              (std::string(column.name) == "end" ? closed_now : "\"" + std::string(column.name) + "\"")),
             ...);
        },
        Table<NvtxRow>::columns());
    database.run(create_sql<NvtxRow>() +
                 "; INSERT INTO main.NVTX_EVENTS SELECT * FROM (SELECT * FROM "
                 "part.NVTX_EVENTS" +
                 " UNION ALL SELECT " + columns + " FROM part." + open_ranges_table + ") ORDER BY 1, 2 DESC");
}

template <class... Rows>
void copy_tables(Database& database, std::tuple<Rows...>*) {
    const auto is_there = [&](const std::string& name) {
        return database.integer("SELECT 1 FROM part.sqlite_master WHERE name = " + quoted(name)).has_value();
    };
    (copy_table<Rows>(database, is_there(Table<Rows>::head.name)), ...);
}

/// Add the device times of calls as a column of SPNG_CALL. Without CUPTI they are the only device data and
/// set the tier to 'events'.
void put_device_times(Database& database) {
    if (!database.integer("SELECT 1 FROM main.sqlite_master WHERE name = 'SPNG_CALL_DEVICE'")) {
        return;
    }
    database.run("CREATE INDEX main.by_call ON SPNG_CALL_DEVICE (call);"
                 "ALTER TABLE main.SPNG_CALL ADD COLUMN device INTEGER;"
                 "UPDATE main.SPNG_CALL SET device = (SELECT MAX(d.device) FROM SPNG_CALL_DEVICE d "
                 "WHERE d.call = SPNG_CALL.id);"
                 "DROP TABLE main.SPNG_CALL_DEVICE;"
                 "UPDATE main.SPNG_RUN SET value = 'events' WHERE key = 'tier' AND value = 'nvtx'");
}

void write_all(const std::string& part, const std::string& path, bool recovered) {
    Database database(path, Database::Mode::create);
    database.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; ATTACH " +
                 quoted(part) +
                 " AS part; BEGIN;"
                 "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT "
                 "NULL);"
                 "CREATE TABLE SPNG_RUN (key TEXT NOT NULL PRIMARY KEY, value TEXT);"
                 "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, "
                 "globalTid INTEGER);" +
                 copy_sql("StringIds", "id") + ";" + copy_sql("SPNG_RUN", "key") + ";" +
                 copy_sql("ThreadNames", "globalTid"));
    copy_tables(database, static_cast<AllRows*>(nullptr));
    put_device_times(database);
    if (recovered) {
        database.run("INSERT OR REPLACE INTO SPNG_RUN VALUES ('end', 'recovered')");
    }
    write_session_tables(database);
    database.run("COMMIT; DETACH part");
    database.close();
}

} // namespace

std::string resolve_target(const std::string& target, bool overwrite) {
    const OutputPath path = output_path(target);
    const std::string kind = path.in_place ? "a device or a pipe" : path.problem;
    if (!kind.empty()) {
        throw DatabaseError(target + " is " + kind + ", expected a regular file");
    }
    if (!overwrite) {
        require_replaceable(path.path);
    }
    return path.path;
}

void finalize_file(const std::string& part, const std::string& target, bool recovered, bool overwrite) {
    try {
        TemporaryFile file(resolve_target(target, overwrite));
        write_all(part, file.path(), recovered);
        file.commit();
    } catch (const Error& error) {
        throw DatabaseError(target + " cannot be written: " + error.text().seen);
    }
    remove_part(part);
}

void remove_part(const std::string& part) {
    for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
        std::remove((part + ending).c_str());
    }
}

std::string intended_target(const std::string& part) {
    Database database(part, Database::Mode::existing);
    const auto name = database.has_table("SPNG_RUN")
                          ? database.text("SELECT value FROM SPNG_RUN WHERE key = 'file'")
                          : std::nullopt;
    if (!name) {
        throw DatabaseError(part + " is not an unfinished recording");
    }
    // The name of the .part file has the exact bytes, also after it was moved to another folder.
    static const std::regex ending(R"(\.[0-9]+(-[0-9]+)?\.part$)");
    const std::string beginning = std::regex_replace(part, ending, "");
    const auto last = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
    return valid_utf8(last(beginning)) == last(*name) ? beginning : *name;
}

} // namespace spng::recorder
