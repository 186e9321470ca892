#pragma once
// One recording: its sources, its file and the thread that writes.

#include "profiling/recorder/activity_source.h"
#include "profiling/recorder/file/part_file.h"
#include "profiling/recorder/options.h"
#include "profiling/recorder/thread_buffer.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <semaphore.h>
#include <string>
#include <thread>
#include <vector>

namespace spng::recorder {

class Recorder;

class Session {
public:
    /// Makes the file and starts the writer; nothing is recorded yet. Throws what Recorder::start throws.
    Session(Recorder& recorder, const Options& options);
    ~Session();

    const std::string& part_file() const { return m_part_name; }
    const std::string& final_file() const { return m_final_name; }

    /// Sources begin, with the recorder active.
    void start_sources();
    void pause();
    void resume();
    void call_begins(std::uint64_t call) noexcept;
    void call_ends(std::uint64_t call) noexcept;

    /// Write what is left and complete the file. Throws DatabaseError.
    void finish(const std::string& end);

    /// End without a file.
    void discard();

    /// Async-signal-safe.
    void ask_for_end(int signal) noexcept;
    bool ended_after_signal() const noexcept { return m_ended; }

    /// Held by the writer while it writes; a fork waits for it.
    std::mutex& writing() { return m_writing; }

private:
    void write_loop();
    void write_round();
    template <class Row>
    void write_queue();
    void write_threads();
    void write_losses();
    void write_notes();
    void diagnose_losses();
    void complete(const std::string& end);
    void end_writer();

    Recorder& m_recorder;
    const Options m_options;
    const std::string m_final_name, m_part_name;
    const TimePoint m_origin;
    PartFile m_file;
    std::vector<std::unique_ptr<ActivitySource>> m_sources;

    sem_t m_wake;
    std::atomic<bool> m_ending{false};
    std::atomic<int> m_signal{0};
    std::atomic<bool> m_ended{false};
    std::mutex m_writing;
    std::string m_failure; ///< why the file cannot be written any more; guarded by m_writing
    Losses m_losses;
    std::uint64_t m_ranges = 0;
    std::int64_t m_writer_cpu = 0; ///< ns
    std::uint64_t m_unwritten = 0; ///< rows taken after the file had failed
    std::thread m_writer;
};

} // namespace spng::recorder
