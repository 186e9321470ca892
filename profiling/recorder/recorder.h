#pragma once
// What a process records, for as long as it lives: strings, domains and threads, which outlast any one file,
// and the session that writes one.

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

class Recorder {
public:
    /// Made at first use and never destroyed: NVTX may be called until the very end of the process.
    static Recorder& instance();

    // ---- a session ----

    /// Begin to record. Throws std::invalid_argument for a name that cannot be, DatabaseError for a file that
    /// cannot be made, std::logic_error when a session runs.
    void start(const Options& options);
    /// End the session and complete its file. Throws DatabaseError. Does nothing without a session.
    /// @param end  how the program ended, for the manifest: "stop", "exit", "signal 6"
    void stop(const std::string& end);
    /// End the session without a file.
    void discard();
    /// Ask for the end of the session and wait for it at most `seconds`. To be called by a signal handler; a
    /// thread of the session's own does the work. Async-signal-safe.
    void stop_in_signal_handler(int signal, int seconds) noexcept;

    /// Of the session that runs.
    const Options& options() const { return m_options; }
    bool active() const { return m_active.load(std::memory_order_relaxed); }
    /// Rows are kept: a session runs and its window is open.
    bool open() const { return m_open.load(std::memory_order_relaxed); }
    /// The same for ranges and marks, which may not have been asked for.
    bool open_for_ranges() const { return open() && m_ranges_wanted.load(std::memory_order_relaxed); }
    void pause();
    void resume();
    /// Names of the files of the session that runs, or of the last one. Async-signal-safe.
    const char* part_file() const { return m_part_file; }
    const char* final_file() const { return m_final_file; }

    // ---- rows, from any thread ----

    template <class Row>
    void add(std::span<const Row> rows) {
        if (active()) {
            std::get<RowQueue<Row>>(m_queues).add(rows);
        }
    }
    template <class Row>
    void add(const Row& row) {
        add(std::span<const Row>(&row, 1));
    }
    /// The table of these rows is made even if none comes: what was looked for and not found is empty, what
    /// was not looked for is absent.
    template <class Row>
    void declare() {
        declare_table(create_sql<Row>());
    }
    StringId intern(std::string_view text) { return m_strings.intern(text); }
    StringTable& strings() { return m_strings; }
    /// A key of the manifest; the last value counts.
    void note(const std::string& key, const std::string& value);
    void diagnose(Severity severity, const std::string& text);

    // ---- threads ----

    /// The buffer of the calling thread.
    ThreadBuffer& thread();
    std::uint32_t process() const { return m_process; }
    void name_thread(std::uint32_t thread, const std::string& name);

    // ---- calls of nodes ----

    /// The id of a call that begins on this thread; 0 when it is not to be recorded.
    std::uint64_t call_begins();
    /// @param keep  false: nothing happened that is worth a row
    void call_ends(CallRow row, bool keep);

    // ---- domains; number 0 is the default one ----

    std::uint16_t domain(const std::string& name);
    void name_category(std::uint16_t domain, std::uint32_t category, const std::string& name);

    AsyncRanges& async_ranges() { return m_async; }
    void attached() { ++m_attachments; }
    std::uint64_t attachments() const { return m_attachments; }

private:
    friend class Session;
    Recorder();

    template <class... Rows>
    static std::tuple<RowQueue<Rows>...> queues_of(std::tuple<Rows...>*);
    void declare_table(const std::string& sql);

    /// What came since it was taken last, for the writer.
    struct Taken {
        std::vector<ChunkPtr> chunks;
        std::vector<NvtxRow> open;  ///< recorded ranges that are open now
        std::vector<NvtxRow> names; ///< of domains and categories
        std::map<std::uint32_t, StringId> thread_names;
        std::vector<std::string> declared; ///< statements that make tables
        Losses losses;
    };
    Taken take_threads();
    std::map<std::string, std::string> take_notes();
    void reset(const Options& options, sem_t* when_filling);
    template <class End>
    void end_session(End end);

    static void before_fork();
    static void after_fork();
    static void in_child();
    static void thread_ends(void* buffer);

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

    std::mutex m_mutex; ///< guards what follows
    std::vector<std::unique_ptr<ThreadBuffer>> m_threads;
    struct ThreadName {
        StringId name;
        bool by_program = false; ///< and not the system's
    };
    std::map<std::uint32_t, ThreadName> m_thread_names;
    std::vector<NvtxRow> m_names;  ///< domains and categories; they outlast sessions
    std::size_t m_names_taken = 0; ///< by this session
    TimePoint m_origin;            ///< of this session
    std::unordered_map<std::string, std::uint16_t> m_domains;
    std::map<std::string, std::string> m_notes; ///< not written yet
    std::unordered_map<std::int64_t, std::int64_t> m_calls_of_node;
    std::vector<std::string> m_declared;

    std::mutex m_session_mutex; ///< of start and stop
    std::atomic<Session*> m_session{nullptr};
    char m_part_file[4096] = "";
    char m_final_file[4096] = "";
};

} // namespace spng::recorder
