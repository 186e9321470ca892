// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unfinished file of a recording: NAME.PROCESS.part beside the final file, an SQLite database with a
// write-ahead log. Committed rows survive any end of the process. Rows are in the order of their arrival;
// finalize_file() creates the sorted final file after the run or after a crash. See
// docs/decisions/recorder.md.

#include "profiling/recorder/file/database.h"
#include "profiling/recorder/file/row_writer.h"
#include "profiling/recorder/file/rows.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace spng::recorder {

/// Table of the open ranges. Only an unfinished file has it.
inline constexpr const char* open_ranges_table = "SPNG_OPEN";

/// Writer of an unfinished file. All functions throw DatabaseError.
class PartFile {
public:
    /// Create the file and the tables that every recording has. If that fails, leave no file.
    PartFile(const std::string& path, const WriteContext& context);

    const std::string& path() const { return m_path; }

    /// Begin a transaction. All functions that write must be called inside a transaction.
    void begin();
    /// Commit the transaction. Rows that are not committed are lost if the process is killed.
    void commit();

    template <class Row>
    void write(std::span<const Row> rows) {
        auto& writer = std::get<std::optional<RowWriter<Row>>>(m_writers);
        if (!writer && !rows.empty()) {
            writer.emplace(m_database);
        }
        if (writer) {
            writer->write(rows, m_context);
        }
    }
    /// Replace the table of open ranges.
    void write_open(std::span<const NvtxRow> rows);
    /// Write the strings that were added since the previous call.
    void write_strings();
    /// Set a key of the manifest.
    void note(const std::string& key, const std::string& value);
    void thread_name(std::uint32_t thread, StringId name);

    /// Close the file, for finalize_file().
    void close();
    /// Close the file and remove it.
    void discard();

    Database& database() { return m_database; }

private:
    void create_tables();

    template <class... Rows>
    static std::tuple<std::optional<RowWriter<Rows>>...> writers_of(std::tuple<Rows...>*);

    std::string m_path;
    WriteContext m_context;
    Database m_database;
    decltype(writers_of(static_cast<AllRows*>(nullptr))) m_writers;
    std::optional<RowWriter<NvtxRow>> m_open_writer;
    std::optional<Statement> m_string, m_note, m_thread_name;
    std::uint32_t m_next_string = 1;
};

} // namespace spng::recorder
