#pragma once
// What a gzip or bzip2 stream unpacks to.

#include "spng/io/archive_handle.h"
#include "spng/io/block_stream.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace spng {

enum class Compression { gzip, bzip2 };

/// What a compressed stream unpacks to. libarchive's gzip filter does not look at the checksum in the
/// trailer, so it is done here: without it a flipped bit in a .tar.gz becomes a wrong sample that nobody
/// notices. A stream of several gzip members has no checksum over the whole and is taken as it is.
class DecompressedStream final : public BlockStream {
public:
    /// @param where  the file, named in errors
    DecompressedStream(std::unique_ptr<BlockStream> packed, Compression compression, std::string where);
    ~DecompressedStream() override;
    DecompressedStream(const DecompressedStream&) = delete;
    DecompressedStream& operator=(const DecompressedStream&) = delete;

    /// Throws Error(Input) when the stream is damaged or cut short.
    std::span<const std::uint8_t> next_block() override;

private:
    struct Packed;
    void verify_trailer() const;
    [[noreturn]] void fail() const;

    std::string m_where;
    Compression m_compression;
    std::unique_ptr<Packed> m_packed;
    std::unique_ptr<archive, ReadFree> m_archive;
    std::uint32_t m_checksum = 0;
    std::uint64_t m_bytes = 0;
    bool m_ended = false;
};

} // namespace spng
