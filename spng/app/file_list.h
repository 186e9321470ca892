// SPDX-License-Identifier: Apache-2.0
#pragma once
// The list of --files: one run of the job for each line.

#include "spng/job/jsonnet.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spng::app {

/// A line of the list.
struct ListedRun {
    std::string input; ///< value of the argument `input`, for messages
    std::vector<JsonnetBinding> bindings;
    std::string timing_file;
};

/// Reads a list line by line, so that another program can write it while files are processed. A line is a path, which becomes
/// the argument `input`; or a JSON object of arguments by name, where "--timing" is the file of --timing. Empty lines and
/// lines that begin with # are skipped. A relative path of a line starts at the folder of the list, those in JSON objects at
/// the current folder. In all values `{name}` is the name of the input without folder and ending.
class FileList {
public:
    /// @param file  path, or - for standard input
    /// @param bindings, timing_file  of the command line
    /// @throws Error(Input) if it cannot be read; Error(Usage) if the command line gives `input`
    FileList(const std::string& file, std::vector<JsonnetBinding> bindings, std::string timing_file);
    ~FileList();
    FileList(const FileList&) = delete;
    FileList& operator=(const FileList&) = delete;

    /// Wait for the next line.
    /// @return the run; nothing at the end of the list, or if a signal came
    /// @throws Error(Input) for a line that is no path and no JSON object of arguments; the next call reads the next line
    std::optional<ListedRun> next(const std::atomic<int>& stop_signal);

    /// Number of runs; empty if the list is not a regular file.
    std::optional<std::uint64_t> size() const { return m_size; }

private:
    std::optional<std::string> next_line(const std::atomic<int>& stop_signal);
    ListedRun run_of(const std::string& line) const;

    std::string m_name;
    std::string m_folder; ///< with a / at its end; empty: the current one
    std::vector<JsonnetBinding> m_bindings;
    std::string m_timing_file;
    std::optional<std::uint64_t> m_size;
    int m_descriptor = -1;
    bool m_at_end = false;
    std::uint64_t m_line = 0;
    std::string m_read; ///< read and not yet returned
};

} // namespace spng::app
