// SPDX-License-Identifier: Apache-2.0
#pragma once
// The display of progress: one line on stderr while a job is prepared and runs.

#include "spng/job/job.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace spng::app {

/// Return "12 events, 1 failed, 4.3 events/s, 0:20 of 1:05 left" for a run.
/// @param share_done  of the input, 0 to 1; empty if unknown
std::string progress_text(std::uint64_t done, std::uint64_t failed, double seconds,
                          std::optional<double> share_done);

/// Files of a list so far.
struct FileCounts {
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::optional<std::uint64_t> total; ///< empty: not known
};

/// Return "3 of 20 files, 1 failed, 41 files/min, 0:25, about 2:20 left".
std::string progress_text(const FileCounts& files, double seconds);

/// Rewrites its line on a terminal twice a second; elsewhere writes a line now and then. Log lines on the terminal clear
/// the line first. The line is not shown while the program is in the background of its terminal.
class Progress {
public:
    enum class Style { none, terminal, lines };

    /// @param wanted  of --progress; empty: Style::terminal if stderr is a terminal that can rewrite lines (not
    ///                TERM=dumb) and the variable CI of continuous integration is not set, else none
    static Style style_for(std::optional<bool> wanted);

    explicit Progress(Style style);
    /// As finish().
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Counts for RunOptions.
    RunCounts& counts() { return m_counts; }

    /// Show the run of the job from now on instead of its preparation. The job must live until finish().
    void run_begins(const Job& job);

    /// Show the runs of a list of files from now on.
    void files_begin(std::optional<std::uint64_t> total);
    void file_ended(bool is_done);

    /// Clear the line and end. Style::lines ends with a line on the whole run.
    void finish();

private:
    void work();
    void show(const std::string& text);
    std::string text() const;

    const Style m_style;
    RunCounts m_counts;
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_ending = false;
    std::optional<FileCounts> m_files;
    const Job* m_job = nullptr;
    std::int64_t m_begin; ///< wall_nanoseconds() of the preparation, later of the run
    std::thread m_thread;
};

/// Clear the line of a terminal, so that other text can follow. Async-signal-safe.
void clear_progress_in_signal_handler() noexcept;

} // namespace spng::app
