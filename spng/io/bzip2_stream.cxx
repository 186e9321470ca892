#include "spng/io/decompressed_stream.h"

#include "spng/core/error.h"
#include "spng/io/crc32.h"

#include <archive.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace spng {

namespace {

constexpr std::size_t gzip_trailer_bytes = 8; // checksum and length, little endian (RFC 1952, 2.3.1)

} // namespace

/// Remembers the last bytes that went by: those of a gzip trailer at the end of the file.
struct DecompressedStream::Packed final : BlockStream {
    explicit Packed(std::unique_ptr<BlockStream> source) : stream(std::move(source)) {}

    std::span<const std::uint8_t> next_block() override {
        const auto block = stream->next_block();
        const std::size_t fresh = std::min(block.size(), tail.size());
        std::shift_left(tail.begin(), tail.end(), static_cast<std::ptrdiff_t>(fresh));
        std::copy(block.end() - static_cast<std::ptrdiff_t>(fresh), block.end(),
                  tail.end() - static_cast<std::ptrdiff_t>(fresh));
        return block;
    }

    std::uint32_t tail_number(std::size_t at) const {
        return std::uint32_t{tail[at]} | std::uint32_t{tail[at + 1]} << 8 |
               std::uint32_t{tail[at + 2]} << 16 | std::uint32_t{tail[at + 3]} << 24;
    }

    std::unique_ptr<BlockStream> stream;
    std::array<std::uint8_t, gzip_trailer_bytes> tail{};
    StreamCallbacks callbacks{*this};
};

DecompressedStream::DecompressedStream(std::unique_ptr<BlockStream> packed, Compression compression,
                                       std::string where)
    : m_where(std::move(where)), m_compression(compression),
      m_packed(std::make_unique<Packed>(std::move(packed))), m_archive(archive_read_new()) {
    // Exactly one filter: left to itself libarchive would unpack a .gz inside a .gz, too, and the checksum of
    // the outer one would not fit what comes out.
    archive_read_append_filter(m_archive.get(),
                               compression == Compression::gzip ? ARCHIVE_FILTER_GZIP : ARCHIVE_FILTER_BZIP2);
    archive_read_set_format(m_archive.get(), ARCHIVE_FORMAT_RAW);
    archive_entry* entry = nullptr;
    if (m_packed->callbacks.open(m_archive.get()) != ARCHIVE_OK ||
        archive_read_next_header(m_archive.get(), &entry) != ARCHIVE_OK) {
        fail();
    }
}

DecompressedStream::~DecompressedStream() = default;

std::span<const std::uint8_t> DecompressedStream::next_block() {
    const void* bytes = nullptr;
    std::size_t count = 0;
    la_int64_t offset = 0;
    if (m_ended) {
        return {};
    }
    const int status = archive_read_data_block(m_archive.get(), &bytes, &count, &offset);
    if (status == ARCHIVE_EOF) {
        m_ended = true;
        verify_trailer();
        return {};
    }
    if (status != ARCHIVE_OK) {
        fail();
    }
    const std::span block(static_cast<const std::uint8_t*>(bytes), count);
    if (m_compression == Compression::gzip) {
        m_checksum = crc32(m_checksum, block);
        m_bytes += count;
    }
    return block;
}

void DecompressedStream::verify_trailer() const {
    if (m_compression != Compression::gzip ||
        m_packed->tail_number(4) != static_cast<std::uint32_t>(m_bytes) ||
        m_packed->tail_number(0) == m_checksum) {
        return; // bzip2 verifies itself; a length that is not the whole is that of the last of several
                // members
    }
    std::array<char, 64> seen{};
    std::snprintf(seen.data(), seen.size(), "checksum %08x, stored %08x", m_checksum,
                  m_packed->tail_number(0));
    throw Error(ErrorKind::Input,
                {.what = "the compressed file is damaged; what was read of it before may be wrong",
                 .where = m_where,
                 .seen = seen.data(),
                 .expected = "equal checksums",
                 .mend = "copy or write the file again"});
}

void DecompressedStream::fail() const {
    m_packed->callbacks.rethrow();
    throw Error(ErrorKind::Input, {.what = "the compressed file is damaged or cut short",
                                   .where = m_where,
                                   .seen = error_text(m_archive.get()),
                                   .expected = m_compression == Compression::gzip ? "a complete gzip file"
                                                                                  : "a complete bzip2 file",
                                   .mend = "copy or write the file again"});
}

} // namespace spng
