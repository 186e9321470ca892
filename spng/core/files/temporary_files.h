#pragma once
// Outputs are written under a temporary name and renamed when they are complete, so that no partial file ever
// has a final name. Nor do partial files stay behind: the destructor removes what was not committed, and a
// signal handler that must end the program at once removes all there are.
//
// An output that exists as a device or a pipe is written in place instead (see core/output_path.h).

#include <filesystem>

namespace spng {

/// The temporary name of one output, partial_path() of its target. Creates no file itself.
///
/// Follows symbolic links: the temporary name is beside the target, which is what commit() replaces. Of an
/// output in place, path() is the output itself, and neither commit() nor the destructor nor a signal touches
/// its name.
class TemporaryFile {
public:
    /// Throws Error(Output) when the folder of `final_path` does not exist, or the path names a folder, a
    /// socket or a block device.
    explicit TemporaryFile(const std::filesystem::path& final_path);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    /// Open path() to append to it, without creating or truncating anything.
    bool in_place() const { return m_in_place; }

    /// What to open and write.
    const std::filesystem::path& path() const { return m_path; }
    const std::filesystem::path& final_path() const { return m_final; }

    /// Say that results are in the file, or on their way, that are worth waiting for when the program is
    /// asked to stop.
    void mark_worth_keeping() noexcept;

    /// Give the closed file its final name, replacing the regular file that had it. Throws Error(Output).
    void commit();

private:
    std::filesystem::path m_path, m_final;
    bool m_in_place = false;
    int m_slot = -1; ///< in the list for signal handlers; -1 when the list is full
};

/// Remove the temporary files of this process. Async-signal-safe.
void unlink_temporary_files() noexcept;

/// Whether a temporary file is marked as worth keeping. Async-signal-safe.
bool temporary_files_worth_keeping() noexcept;

} // namespace spng
