// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/file/part_file.h"

#include "profiling/recorder/file/finalize_file.h"

#include <type_traits>

namespace spng::recorder {
namespace {

template <class Writers>
void create_initial_tables(Writers& writers, Database& database) {
    std::apply(
        [&](auto&... writer) {
            (
                [&] {
                    using Writer = typename std::remove_reference_t<decltype(writer)>::value_type;
                    if (Writer::create_at_start) {
                        writer.emplace(database);
                    }
                }(),
                ...);
        },
        writers);
}

} // namespace

PartFile::PartFile(const std::string& path, const WriteContext& context)
    : m_path(path), m_context(context), m_database(path, Database::Mode::create) {
    try {
        create_tables();
    } catch (...) {
        discard();
        throw;
    }
}

void PartFile::create_tables() {
    // Without synchronisation a crash of the machine may lose the file; a crash of the program does not.
    m_database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
                   "BEGIN; CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value "
                   "TEXT NOT NULL);"
                   "CREATE TABLE SPNG_RUN (key TEXT NOT NULL PRIMARY KEY, value TEXT);"
                   "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, "
                   "globalTid INTEGER PRIMARY KEY)");
    create_initial_tables(m_writers, m_database);
    m_open_writer.emplace(m_database, open_ranges_table);
    m_string.emplace(m_database, "INSERT INTO StringIds VALUES (?, ?)");
    m_note.emplace(m_database, "INSERT OR REPLACE INTO SPNG_RUN VALUES (?, ?)");
    m_thread_name.emplace(m_database, "INSERT OR REPLACE INTO ThreadNames VALUES (?, 0, ?)");
    m_database.run("COMMIT");
}

void PartFile::begin() {
    m_database.run("BEGIN");
}

void PartFile::commit() {
    m_database.run("COMMIT");
}

void PartFile::write_open(std::span<const NvtxRow> rows) {
    m_database.run("DELETE FROM " + std::string(open_ranges_table));
    m_open_writer->write(rows, m_context);
}

void PartFile::write_strings() {
    for (const std::string* text : m_context.strings->from(m_next_string)) {
        m_string->bind(1, std::int64_t{m_next_string});
        m_string->bind(2, *text);
        m_string->run();
        ++m_next_string;
    }
}

void PartFile::note(const std::string& key, const std::string& value) {
    m_note->bind(1, key);
    m_note->bind(2, value);
    m_note->run();
}

void PartFile::thread_name(std::uint32_t thread, StringId name) {
    m_thread_name->bind(1, std::int64_t{name.index});
    m_thread_name->bind(2, static_cast<std::int64_t>(global_thread(m_context.process, thread)));
    m_thread_name->run();
}

void PartFile::close() {
    // Open statements prevent closing the database.
    std::apply([](auto&... writer) { (writer.reset(), ...); }, m_writers);
    m_open_writer.reset();
    for (auto* statement : {&m_string, &m_note, &m_thread_name}) {
        statement->reset();
    }
    m_database.close();
}

void PartFile::discard() {
    close();
    remove_part(m_path);
}

} // namespace spng::recorder
