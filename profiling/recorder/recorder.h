// SPDX-License-Identifier: Apache-2.0
#pragma once
// The recorder of a process: strings, domains and threads, which outlive a session, and the running session.

#include "profiling/recorder/async_ranges.h"
#include "profiling/recorder/chunk_pool.h"
#include "profiling/recorder/clock.h"
#include "profiling/recorder/file/row_queue.h"
#include "profiling/recorder/file/row_writer.h"
#include "profiling/recorder/file/rows.h"
#include "profiling/recorder/file/string_table.h"
#include "profiling/recorder/options.h"
#include "profiling/recorder/thread_buffer.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore.h>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace spng::recorder {

class Session;

/// Process-wide recorder. All functions are thread-safe.
class Recorder {
public:
    /// Return the recorder. It is created at first use and never destroyed, because NVTX may be called until
    /// the process ends.
    static Recorder& instance();

    // ---- a session ----

    /// Start a session and create its file.
    /// @throws std::invalid_argument if the file name is invalid
    /// @throws DatabaseError if the file cannot be created
    /// @throws std::logic_error if a session is running
    void start(const Options& options);
    /// End the session and finalize its file. Do nothing without a session.
    /// @param end  how the program ended, for the manifest: "stop", "exit", "signal 6"
    /// @throws DatabaseError if the file cannot be written
    void stop(const std::string& end);
    /// End the session and delete its file. Do nothing without a session.
    void discard();
    /// Request the end of the session and wait up to `seconds` for it. The session's writer thread finalizes
    /// the file. Async-signal-safe.
    void stop_in_signal_handler(int signal, int seconds) noexcept;

    /// Return the options of the running session.
    const Options& options() const { return m_options; }
    /// Return true while a session runs.
    bool is_active() const { return m_active.load(std::memory_order_relaxed); }
    /// Return true while a session runs and its capture window is open.
    bool is_open() const { return m_open.load(std::memory_order_relaxed); }
    /// Return true while the capture window is open and the session records NVTX ranges and marks.
    bool records_ranges() const { return is_open() && m_ranges_wanted.load(std::memory_order_relaxed); }
    /// Close the capture window. Do nothing without a session.
    void pause();
    /// Open the capture window. Do nothing without a session.
    void resume();
    /// Return the name of the unfinished file of the running session, or of the last one. Async-signal-safe.
    const char* part_file() const { return m_part_file; }
    /// Return the name of the final file of the running session, or of the last one. Async-signal-safe.
    const char* final_file() const { return m_final_file; }

    // ---- rows, from any thread ----

    /// Queue rows for the writer. Drop them without a session.
    template <class Row>
    void add(std::span<const Row> rows) {
        if (is_active()) {
            std::get<RowQueue<Row>>(m_queues).add(rows);
        }
    }
    template <class Row>
    void add(const Row& row) {
        add(std::span<const Row>(&row, 1));
    }
    /// Create the table of these rows even if it stays empty. An empty table means that nothing happened; an
    /// absent table means that the session did not record this kind of row.
    template <class Row>
    void declare() {
        declare_table(create_sql<Row>());
    }
    /// Return the index of a string in the string table; add the string if it is new.
    StringId intern(std::string_view text) { return m_strings.intern(text); }
    StringTable& strings() { return m_strings; }
    /// Set a key of the manifest. A later value replaces an earlier one.
    void note(const std::string& key, const std::string& value);
    /// Add a diagnostic message to the recording.
    void diagnose(Severity severity, const std::string& text);

    // ---- threads ----

    /// Return the buffer of the calling thread.
    ThreadBuffer& thread();
    /// Return the system's process id.
    std::uint32_t process() const { return m_process; }
    /// Name the thread with the given system id.
    void name_thread(std::uint32_t thread, const std::string& name);

    // ---- calls of nodes ----

    /// Begin a node call on this thread.
    /// @return the id of the call, or 0 if it is not recorded
    std::uint64_t call_begins();
    /// End a node call on this thread.
    /// @param row   the call; thread, sequence and resident memory are set here
    /// @param keep  false: the call counts for no event
    void call_ends(CallRow row, bool keep);

    // ---- domains; id 0 is the default domain ----

    /// Return the id of the domain with this name; create the domain if it is new.
    std::uint16_t domain(const std::string& name);
    /// Name a category of a domain.
    void name_category(std::uint16_t domain, std::uint32_t category, const std::string& name);

    AsyncRanges& async_ranges() { return m_async; }
    /// Count a library that attached itself through NVTX.
    void count_attachment() { ++m_attachments; }
    /// Return how many libraries attached themselves through NVTX.
    std::uint64_t attachments() const { return m_attachments; }

private:
    friend class Session;
    Recorder();

    template <class... Rows>
    static std::tuple<RowQueue<Rows>...> queues_of(std::tuple<Rows...>*);
    void declare_table(const std::string& sql);

    /// Data for the writer that arrived since the previous call of take_threads().
    struct Taken {
        std::vector<ChunkPtr> chunks;
        std::vector<NvtxRow> open;  ///< recorded ranges that are still open
        std::vector<NvtxRow> names; ///< names of domains and categories
        std::map<std::uint32_t, StringId> thread_names;
        std::vector<std::string> declared; ///< CREATE TABLE statements
        Losses losses;
    };
    Taken take_threads();
    std::map<std::string, std::string> take_notes();
    /// Clear the data of the previous session and apply the options of a new one.
    /// @param fill_signal  posted when a quarter of the memory limit is in use
    void reset(const Options& options, sem_t* fill_signal);
    template <class End>
    void end_session(End end);

    static void before_fork();
    static void after_fork_in_parent();
    static void after_fork_in_child();
    static void on_thread_exit(void* buffer);

    std::atomic<bool> m_active{false};
    std::atomic<bool> m_open{false};
    std::atomic<bool> m_ranges_wanted{true}, m_calls_wanted{true};
    std::atomic<std::uint64_t> m_attachments{0};
    std::atomic<std::uint64_t> m_next_call{1};
    std::atomic<std::uint32_t> m_process;

    Options m_options;
    StringTable m_strings;
    ChunkPool m_pool;
    std::atomic<std::int64_t> m_rows_left{0};
    decltype(queues_of(static_cast<AllRows*>(nullptr))) m_queues;
    AsyncRanges m_async;

    /// Guards the members from here to m_declared.
    std::mutex m_mutex;
    std::vector<std::unique_ptr<ThreadBuffer>> m_threads;
    struct ThreadName {
        StringId name;
        bool by_program = false; ///< false: the name that the system reports
    };
    std::map<std::uint32_t, ThreadName> m_thread_names;
    std::vector<NvtxRow> m_names;  ///< names of domains and categories; they outlive sessions
    std::size_t m_names_taken = 0; ///< entries of m_names that this session has written
    TimePoint m_origin;            ///< start of this session
    std::unordered_map<std::string, std::uint16_t> m_domains;
    std::map<std::string, std::string> m_notes; ///< not written yet
    std::unordered_map<std::int64_t, std::int64_t> m_calls_of_node;
    std::vector<std::string> m_declared;

    std::mutex m_session_mutex; ///< serializes start, stop, pause and resume
    std::atomic<Session*> m_session{nullptr};
    char m_part_file[4096] = "";
    char m_final_file[4096] = "";
};

} // namespace spng::recorder
