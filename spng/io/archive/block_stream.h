#pragma once
// Where the bytes of an archive come from, block by block.

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace spng {

/// Bytes in order. A block is valid until the next call.
class BlockStream {
public:
    virtual ~BlockStream() = default;

    /// The next bytes; an empty span at the end. Throws Error(Input).
    virtual std::span<const std::uint8_t> next_block() = 0;

    /// True when seek() works.
    virtual bool seekable() const { return false; }

    /// As lseek(2); returns the new position, negative on failure.
    virtual std::int64_t seek(std::int64_t offset, int whence);
};

/// A file, or anything else that can be opened by name: a FIFO and /dev/stdin are read once, front to back.
class FileStream final : public BlockStream {
public:
    /// Throws Error(Input) when the file is missing, unreadable or a folder.
    explicit FileStream(const std::filesystem::path& path);
    ~FileStream() override;
    FileStream(const FileStream&) = delete;
    FileStream& operator=(const FileStream&) = delete;

    /// The first bytes of the file (fewer than a block only when the file has no more); next_block() gives
    /// them again.
    std::span<const std::uint8_t> peek();

    std::span<const std::uint8_t> next_block() override;
    bool seekable() const override { return m_seekable; }
    std::int64_t seek(std::int64_t offset, int whence) override;

    /// Bytes of a file that can be sought, wherever reading stands. Throws Error(Input) when there are fewer.
    std::vector<std::uint8_t> read_at(std::uint64_t position, std::size_t bytes) const;
    /// Of a file that can be sought.
    std::uint64_t size() const { return m_size; }

private:
    std::size_t fill();

    std::filesystem::path m_path;
    int m_descriptor = -1;
    bool m_seekable = false;
    std::uint64_t m_size = 0;
    std::vector<std::uint8_t> m_block;
    std::size_t m_peeked = 0; ///< bytes at the start of m_block that next_block() still has to give
};

} // namespace spng
