#pragma once
// Mix-in for components that read or write files which the user named. A job compares them before it starts,
// so that none is written over another.

#include <filesystem>
#include <string>
#include <vector>

namespace spng {

class UsesFiles {
public:
    virtual ~UsesFiles() = default;
    /// As they are opened, which may be relative; asked after configure().
    virtual std::vector<std::filesystem::path> files_read() const { return {}; }
    virtual std::vector<std::filesystem::path> files_written() const { return {}; }
};

struct UsedFile {
    std::string user; ///< node and key, or command-line flag
    std::filesystem::path path;
    bool is_written = false;
};

/// Throws Error(Configuration) when a file is written that is also read or written by another user, by
/// whatever name or link: files that exist are compared by device and inode, others by their resolved names.
/// Devices and pipes may be shared.
void require_separate(const std::vector<UsedFile>& files);

} // namespace spng
