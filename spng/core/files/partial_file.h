// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/core/files/temporary_files.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace spng {

/// An output file that appears under its name only when it is complete (see TemporaryFile). Every write is
/// checked. A device or a pipe is written in place, as the bytes arrive.
///
/// The program must ignore SIGXFSZ, as wire-cell does. Then exceeding a file size limit throws an error here
/// instead of ending the process.
class PartialFile {
public:
    /// Create the file. Blocks until a pipe has a reader.
    /// @throws Error(Output) if the file cannot be created in its folder
    explicit PartialFile(const std::filesystem::path& path);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    /// Append bytes.
    /// @throws Error(Output) with the path, the bytes written so far and the reason; the file is then removed
    void write(std::span<const std::uint8_t> bytes);

    /// See TemporaryFile.
    void mark_worth_keeping() noexcept;

    /// Give the file its final name, replacing an existing one.
    /// @throws Error(Output); the file is then removed
    void commit();

private:
    [[noreturn]] void fail(const std::string& what, int error);
    void discard() noexcept;

    std::filesystem::path m_path;
    std::unique_ptr<TemporaryFile> m_temporary; ///< null: committed or discarded
    int m_descriptor = -1;
    std::uint64_t m_written = 0;
};

} // namespace spng
