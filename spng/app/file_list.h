// SPDX-License-Identifier: Apache-2.0
#pragma once
// The list of --files: one run of the job for each line.

#include "spng/job/placeholders.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace spng::app {

/// Reads a list line by line, so that another program can write it while files are processed. Empty lines and lines that begin
/// with # are skipped. Each line gives values of placeholders:
/// - a path gives `input`; a relative one starts at the folder of the list;
/// - a JSON object of strings gives the values of its keys, among them `input`.
/// `name` is the name of the input without folder and ending, unless the line gives it.
class FileList {
public:
    /// @param file  path, or - for standard input
    /// @throws Error(Input) if it cannot be read
    explicit FileList(const std::string& file);
    ~FileList();
    FileList(const FileList&) = delete;
    FileList& operator=(const FileList&) = delete;

    /// Wait for the next line.
    /// @return its values; nothing at the end of the list, or if a signal came
    /// @throws Error(Input) for a line of another form; the next call reads the next line. Also if the list cannot be read
    /// on, which ends it
    std::optional<PlaceholderValues> next(const std::atomic<int>& stop_signal);

    /// Number of runs; empty if the list is not a regular file.
    std::optional<std::uint64_t> size() const { return m_size; }

private:
    std::optional<std::string> next_line(const std::atomic<int>& stop_signal);
    PlaceholderValues values_of(const std::string& line) const;

    std::string m_name;
    std::string m_folder; ///< with a / at its end; empty: the current one
    std::optional<std::uint64_t> m_size;
    int m_descriptor = -1;
    bool m_at_end = false;
    std::uint64_t m_line = 0;
    std::string m_read; ///< read and not yet returned
};

} // namespace spng::app
