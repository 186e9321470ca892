// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mix-in for components that read or write files named by the user. A job compares these files before it
// starts, so that no output overwrites an input or another output.

#include "spng/io/output_kind.h"

#include <filesystem>
#include <string>
#include <vector>

namespace spng {

class FileUser {
public:
    virtual ~FileUser() = default;
    /// Return the paths as the component opens them; they may be relative. Called after configure().
    virtual std::vector<std::filesystem::path> files_read() const { return {}; }
    virtual std::vector<std::filesystem::path> files_written() const { return {}; }

    /// Look at the files without changing any: inputs are there and can be read, and check_outputs(). For --check.
    /// @throws Error for the first file that cannot be used
    virtual void check_files() const;
    /// Look at the names and folders of the outputs without creating any file. Also called before a run.
    /// @throws Error for the first output that cannot be written
    virtual void check_outputs() const;
};

struct UsedFile {
    std::string user; ///< node and key, or command-line flag
    std::filesystem::path path;
    bool is_written = false;
    OutputKind kind = OutputKind::arrays; ///< of a file that is written
};

/// Reject an output whose folder does not exist or is not writable, or that is a folder itself. Creates no file.
/// @throws Error(Output)
void require_writable(const std::filesystem::path& path);

/// Reject a written file that another user also reads or writes, under any name or link. Existing files are
/// compared by device and inode, others by their resolved names. Devices and pipes may be shared.
/// @throws Error(Configuration)
void require_separate(const std::vector<UsedFile>& files);

} // namespace spng
