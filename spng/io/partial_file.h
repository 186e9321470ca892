#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace spng {

/// An output file that appears under its name only when it is complete. Until then it is hidden beside it, as
/// .<name>.<process>.partial, and it is removed when the object goes without commit() or after a failed
/// write.
///
/// The program must ignore SIGXFSZ (signal(SIGXFSZ, SIG_IGN)), so that a file size limit is an error here and
/// not the end of the process.
class PartialFile {
public:
    /// Throws Error(Output) when the file cannot be made in its folder.
    explicit PartialFile(std::filesystem::path path);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    /// Append. Throws Error(Output) naming the path, the bytes so far and the system's reason.
    void write(std::span<const std::uint8_t> bytes);

    /// Give the file its final name, replacing one that is there. Throws Error(Output).
    void commit();

    const std::filesystem::path& path() const { return m_path; }

private:
    [[noreturn]] void fail(const std::string& what, int error);
    void discard() noexcept;

    std::filesystem::path m_path;
    std::filesystem::path m_temporary;
    int m_descriptor = -1; ///< -1: committed or discarded
    std::uint64_t m_written = 0;
};

} // namespace spng
