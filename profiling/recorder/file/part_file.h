#pragma once
// The file while it grows: NAME.PROCESS.part beside the final name, a SQLite database with a write-ahead log.
// What was committed survives any end of the process. Rows stand in it in the order in which they came;
// complete_file() makes the sorted final file of it, after the run or after a crash. See
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

/// Tables that only an unfinished file has.
inline constexpr const char* open_ranges_table = "SPNG_OPEN";

class PartFile {
public:
    /// Makes the file and the tables that every recording has. Throws DatabaseError.
    PartFile(const std::string& path, const Scale& scale);

    const std::string& path() const { return m_path; }

    /// All writing happens between these two; what is not committed is lost with the process.
    void begin();
    void commit();

    template <class Row>
    void write(std::span<const Row> rows) {
        auto& writer = std::get<std::optional<RowWriter<Row>>>(m_writers);
        if (!writer && !rows.empty()) {
            writer.emplace(m_database);
        }
        if (writer) {
            writer->write(rows, m_scale);
        }
    }
    /// Make a table that may stay empty.
    template <class Row>
    void declare() {
        m_database.run(create_sql<Row>());
    }
    /// The ranges that are open now, instead of those that were.
    void write_open(std::span<const NvtxRow> rows);
    /// Strings that came since the last call.
    void write_strings();
    void note(const std::string& key, const std::string& value);
    void thread_name(std::uint32_t thread, StringId name);

    /// To be completed by complete_file().
    void close();

    Database& database() { return m_database; }

private:
    template <class... Rows>
    static std::tuple<std::optional<RowWriter<Rows>>...> writers_of(std::tuple<Rows...>*);

    std::string m_path;
    Scale m_scale;
    Database m_database;
    decltype(writers_of(static_cast<AllRows*>(nullptr))) m_writers;
    std::optional<RowWriter<NvtxRow>> m_open_writer;
    std::optional<Statement> m_string, m_note, m_thread_name;
    std::uint32_t m_next_string = 1;
};

} // namespace spng::recorder
