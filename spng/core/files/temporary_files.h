// SPDX-License-Identifier: Apache-2.0
#pragma once
// Outputs are written under a temporary name and renamed when they are complete, so that no partial file ever
// has a final name. The destructor removes a file that was not committed. A signal handler that must end the
// program at once removes all temporary files.
//
// An output that exists as a device or a pipe is written in place instead (see core/files/output_path.h).
// Depends only on the standard library: the recorder, a separate library, compiles it too.

#include <filesystem>

namespace spng {

/// The temporary name of one output: partial_path() of its target. Does not create the file.
///
/// Follows symbolic links: the temporary name is beside the target of the link, and commit() replaces that
/// target. For an output in place, path() is the output itself; commit(), the destructor and signals leave it
/// alone.
class TemporaryFile {
public:
    /// @throws Error(Output) if the folder of `final_path` does not exist, or the path names a folder, a
    /// socket or a block device
    explicit TemporaryFile(const std::filesystem::path& final_path);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    /// True if the caller must open path() for appending, without creating or truncating anything.
    bool in_place() const { return m_in_place; }

    /// The path to open and write.
    const std::filesystem::path& path() const { return m_path; }
    const std::filesystem::path& final_path() const { return m_final; }

    /// Mark the file as holding, or about to hold, results that a program asked to stop should finish first.
    void mark_worth_keeping() noexcept;

    /// Give the closed file its final name, replacing a regular file of that name.
    /// @throws Error(Output)
    void commit();

private:
    std::filesystem::path m_path, m_final;
    bool m_in_place = false;
    int m_slot = -1; ///< in the list for signal handlers; -1 if the list is full
};

/// Remove the temporary files of this process. Async-signal-safe.
void unlink_temporary_files() noexcept;

/// Return true if any temporary file is marked as worth keeping. Async-signal-safe.
bool temporary_files_worth_keeping() noexcept;

} // namespace spng
