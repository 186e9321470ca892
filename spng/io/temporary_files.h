#pragma once
// Outputs are written under a temporary name and renamed when they are complete, so that no partial file ever
// has a final name. Nor do partial files stay behind: the destructor removes what was not committed, and a
// signal handler that must end the program at once removes all there are.

#include <filesystem>

namespace spng {

/// The temporary name of one output, `.<name>.<process>-<random>.partial` in the same folder: processes of
/// other machines and containers may have the same number. Creates no file itself.
class TemporaryFile {
public:
    /// Throws Error(Output) when the folder of `final_path` does not exist or the path names a folder.
    explicit TemporaryFile(const std::filesystem::path& final_path);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    /// What to open and write.
    const std::filesystem::path& path() const { return m_path; }
    const std::filesystem::path& final_path() const { return m_final; }

    /// Say that results are in the file, or on their way, that are worth waiting for when the program is
    /// asked to stop.
    void mark_worth_keeping() noexcept;

    /// Give the closed file its final name, replacing what had it. Throws Error(Output).
    void commit();

private:
    std::filesystem::path m_path, m_final;
    int m_slot = -1; ///< in the list for signal handlers; -1 when the list is full
};

/// Remove the temporary files of this process. Async-signal-safe.
void unlink_temporary_files() noexcept;

/// Whether a temporary file is marked as worth keeping. Async-signal-safe.
bool temporary_files_worth_keeping() noexcept;

} // namespace spng
