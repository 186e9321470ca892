// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/placed_member.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace spng {

namespace {

constexpr std::size_t beginning_bytes = 4096; // the header of an array fits
constexpr std::size_t piece_bytes = 1 << 18;  // stays in the cache between reading and its checksum

} // namespace

PlacedMember::PlacedMember(std::shared_ptr<const FileStream> file, MemberPlace place, std::string where)
    : m_file(std::move(file)), m_place(std::move(place)), m_where(std::move(where)) {
    if (m_place.is_deflated ? m_place.bytes / largest_deflate_ratio > m_place.stored_bytes
                            : m_place.bytes != m_place.stored_bytes) {
        fail_archive(m_where, std::to_string(m_place.stored_bytes) + " bytes in the file for a content of " +
                                  std::to_string(m_place.bytes));
    }
}

std::size_t PlacedMember::read(void* to, std::size_t bytes) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, m_place.bytes - m_position));
    const std::span part(static_cast<std::uint8_t*>(to), count);
    if (m_place.is_deflated) {
        const std::uint64_t end = m_position + count;
        if (end > m_unpacked.size()) {
            const bool is_beginning = end <= beginning_bytes;
            is_beginning&& m_place.bytes > beginning_bytes ? unpack_beginning() : unpack_all();
        }
        std::copy_n(m_unpacked.begin() + static_cast<std::ptrdiff_t>(m_position), count, part.begin());
    } else {
        m_crc32 = read_stored(part, m_position, m_crc32);
        if (count > 0 && m_position + count == m_place.bytes) {
            check(m_crc32);
        }
    }
    m_position += count;
    return count;
}

bool PlacedMember::read_whole(std::span<std::uint8_t> to) {
    check(m_place.is_deflated ? inflate(to) : read_stored(to, 0, 0));
    return true;
}

/// Read a part of stored content.
/// @param crc32  of the content before it
/// @return CRC-32 with this part; 0 if there is none to compare with
std::uint32_t PlacedMember::read_stored(std::span<std::uint8_t> to, std::uint64_t position,
                                        std::uint32_t crc32) const {
    if (!m_place.crc32) {
        m_file->read_at(m_place.begin + position, to);
        return 0;
    }
    for (std::size_t at = 0; at < to.size(); at += piece_bytes) {
        const auto piece = to.subspan(at, std::min(piece_bytes, to.size() - at));
        m_file->read_at(m_place.begin + position + at, piece);
        crc32 = libdeflate_crc32(crc32, piece.data(), piece.size());
    }
    return crc32;
}

/// Unpack the first bytes, which the checksum cannot check yet.
void PlacedMember::unpack_beginning() {
    std::vector<std::uint8_t> packed(std::min<std::uint64_t>(m_place.stored_bytes, 2 * beginning_bytes));
    m_file->read_at(m_place.begin, packed);
    m_unpacked.resize(beginning_bytes);
    z_stream stream{};
    stream.next_in = packed.data();
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = m_unpacked.data();
    stream.avail_out = static_cast<uInt>(m_unpacked.size());
    inflateInit2(&stream, -MAX_WBITS);
    ::inflate(&stream, Z_SYNC_FLUSH);
    inflateEnd(&stream);
    if (stream.avail_out > 0) {
        fail_archive(m_where, "damaged data");
    }
}

void PlacedMember::unpack_all() {
    m_unpacked.resize(m_place.bytes);
    read_whole(m_unpacked);
}

/// @return CRC-32 of the content
std::uint32_t PlacedMember::inflate(std::span<std::uint8_t> to) const {
    const auto packed = std::make_unique_for_overwrite<std::uint8_t[]>(m_place.stored_bytes);
    m_file->read_at(m_place.begin, {packed.get(), m_place.stored_bytes});
    const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
        libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
    std::size_t used = 0;
    const auto result = libdeflate_deflate_decompress_ex(inflater.get(), packed.get(), m_place.stored_bytes,
                                                         to.data(), to.size(), &used, nullptr);
    if (result != LIBDEFLATE_SUCCESS || used != m_place.stored_bytes) {
        fail_archive(m_where, "damaged data");
    }
    return libdeflate_crc32(0, to.data(), to.size());
}

void PlacedMember::check(std::uint32_t crc32) const {
    if (m_place.crc32 && *m_place.crc32 != crc32) {
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "content with CRC-32 0x%x where its header lists 0x%x", crc32,
                      *m_place.crc32);
        fail_archive(m_where, text.data());
    }
}

} // namespace spng
