#pragma once

#include "spng/core/files/temporary_files.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace spng {

/// An output file that appears under its name only when it is complete (see TemporaryFile); every write is
/// checked. A device or a pipe is written in place, as the bytes come.
///
/// The program must ignore SIGXFSZ, as wire-cell does, so that a file size limit is an error here and not the
/// end of the process.
class PartialFile {
public:
    /// Throws Error(Output) when the file cannot be made in its folder. Waits for the reader of a pipe.
    explicit PartialFile(const std::filesystem::path& path);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    /// Append. Throws Error(Output) naming the path, the bytes so far and the system's reason; the file is
    /// then gone.
    void write(std::span<const std::uint8_t> bytes);

    /// See TemporaryFile.
    void mark_worth_keeping() noexcept;

    /// Give the file its final name, replacing one that is there. Throws Error(Output); the file is then
    /// gone.
    void commit();

    const std::filesystem::path& path() const { return m_path; }

private:
    [[noreturn]] void fail(const std::string& what, int error);
    void discard() noexcept;

    std::filesystem::path m_path;
    std::unique_ptr<TemporaryFile> m_temporary; ///< null: committed or discarded
    int m_descriptor = -1;
    std::uint64_t m_written = 0;
};

} // namespace spng
