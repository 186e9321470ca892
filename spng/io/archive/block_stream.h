// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sources of the bytes of an archive, block by block.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace spng {

/// Bytes in order. A block is valid until the next call.
class BlockStream {
public:
    virtual ~BlockStream() = default;

    /// Return the next bytes; an empty span at the end.
    /// @throws Error(Input)
    virtual std::span<const std::uint8_t> next_block() = 0;

    /// Return true if seek() works.
    virtual bool seekable() const { return false; }

    /// Seek as lseek(2) does.
    /// @return the new position, negative on failure
    virtual std::int64_t seek(std::int64_t offset, int whence);
};

/// Throw Error(Input) for a file with damage in its compressed data.
/// @param where   the file
/// @param format  "gzip", "bzip2", "xz" or "zstd", also the name of its program
[[noreturn]] void fail_compressed(const std::string& where, const std::string& seen,
                                  const std::string& format);

/// Throw Error(Input) for an archive with damage.
/// @param where  the file, or the file and the member
[[noreturn]] void fail_archive(const std::string& where, const std::string& seen);

/// A file, or anything else that can be opened by name. A FIFO and /dev/stdin are read once, front to back.
class FileStream final : public BlockStream {
public:
    /// @throws Error(Input) if the file is missing, unreadable or a folder
    explicit FileStream(const std::filesystem::path& path);
    ~FileStream() override;
    FileStream(const FileStream&) = delete;
    FileStream& operator=(const FileStream&) = delete;

    /// Return the first block of the file (shorter only if the file is shorter). next_block() returns it
    /// again.
    std::span<const std::uint8_t> peek();

    std::span<const std::uint8_t> next_block() override;
    bool seekable() const override { return m_seekable; }
    std::int64_t seek(std::int64_t offset, int whence) override;

    /// Read bytes at a position without moving the stream, also while another thread reads. The file must be seekable.
    /// @throws Error(Input) if the file has fewer bytes
    void read_at(std::uint64_t position, std::span<std::uint8_t> to) const;
    /// Return the bytes of a seekable file.
    std::uint64_t size() const { return m_size; }
    /// Return the share of a seekable file before the position up to which it was read, 0 to 1; 0 for others.
    double share_read() const;

private:
    std::size_t fill();

    std::filesystem::path m_path;
    int m_descriptor = -1;
    bool m_seekable = false;
    std::uint64_t m_size = 0;
    std::vector<std::uint8_t> m_block;
    std::size_t m_peeked = 0; ///< bytes at the start of m_block that next_block() has not returned yet
};

} // namespace spng
