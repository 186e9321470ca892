// SPDX-License-Identifier: Apache-2.0
#pragma once
// One recording: its activity sources, its file and its writer thread.

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

/// Recording session. The writer thread moves rows from the recorder to the file.
class Session {
public:
    /// Create the file and start the writer thread. Rows are recorded once the recorder is active.
    /// @throws std::invalid_argument if the file name is invalid
    /// @throws DatabaseError if the file cannot be created
    Session(Recorder& recorder, const Options& options);
    ~Session();

    const std::string& part_file() const { return m_part_name; }
    const std::string& final_file() const { return m_final_name; }

    /// Start the sources of the requested parts. The recorder must be active.
    void start_sources();
    /// Notify the sources that the capture window closed.
    void pause();
    /// Notify the sources that the capture window opened.
    void resume();
    /// Notify the sources that a node call begins on this thread.
    void call_begins(std::uint64_t call) noexcept;
    /// Notify the sources that a node call ends on this thread.
    void call_ends(std::uint64_t call) noexcept;

    /// Stop the sources, write the remaining rows and finalize the file.
    /// @param end  how the program ended, for the manifest
    /// @throws DatabaseError if the file cannot be written; the .part file is kept
    void finish(const std::string& end);

    /// Stop the sources and delete the file.
    void discard();

    /// Make the writer thread finalize the file because of a signal. Async-signal-safe.
    void request_end(int signal) noexcept;
    /// Return true when the writer has processed request_end(). Async-signal-safe.
    bool ended_after_signal() const noexcept { return m_ended; }

    /// Return the mutex that the writer holds while it writes. A fork waits for it.
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
    std::string m_failure; ///< first write error, empty if none; guarded by m_writing
    Losses m_losses;
    std::uint64_t m_ranges = 0;    ///< range and mark rows taken from the threads
    std::int64_t m_writer_cpu = 0; ///< processor time of the writer [ns]
    std::uint64_t m_unwritten = 0; ///< rows taken after a write error
    std::thread m_writer;
};

} // namespace spng::recorder
