// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace spng::fuzz {

/// A private folder in memory (/dev/shm, else the folder of temporary files), which the creating process removes at its
/// end.
class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
    int m_owner;
};

/// @throws std::runtime_error for a file that cannot be read
std::string read_file(const std::filesystem::path& path);
/// @throws std::runtime_error for a file that cannot be written completely
void write_file(const std::filesystem::path& path, const std::string& bytes);

/// A pipe that holds bytes, at most 64 kB: a file that can be read once and not be searched.
class PipeFile {
public:
    static constexpr std::size_t max_bytes = std::size_t{1} << 16;

    explicit PipeFile(const std::string& bytes);
    ~PipeFile();
    PipeFile(const PipeFile&) = delete;
    PipeFile& operator=(const PipeFile&) = delete;
    std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(m_descriptor); }

private:
    int m_descriptor = -1;
};

} // namespace spng::fuzz
