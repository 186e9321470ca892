// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/block_stream.h"
#include "spng/io/archive/byte_source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spng {

/// Bytes of content for each compressed byte, at most: deflate makes 258 bytes of two bits.
constexpr std::uint64_t largest_deflate_ratio = 1032;

/// The place of a member's bytes in a file that can be read at any position.
struct MemberPlace {
    std::string path; ///< its name with folders
    std::uint64_t begin = 0;
    std::uint64_t stored_bytes = 0; ///< in the file
    std::uint64_t bytes = 0;        ///< of the content
    bool is_deflated = false;
    std::optional<std::uint32_t> crc32; ///< of the content; a tar has none
};

/// A member of a .tar or .zip that is read from its place in the file, without what lies before it. Independent of the
/// reader that found it: members of one file may be read on several threads, each by one.
class PlacedMember final : public ByteSource {
public:
    /// @param file   seekable
    /// @param where  file and member, for errors
    PlacedMember(std::shared_ptr<const FileStream> file, MemberPlace place, std::string where);

    /// @throws Error(Input) for damage, at the end of the content or before it
    std::size_t read(void* to, std::size_t bytes) override;
    std::optional<std::uint64_t> declared_bytes() const override { return m_place.bytes; }
    std::uint64_t plausible_bytes() const override { return m_place.bytes; }
    std::string where() const override { return m_where; }
    bool read_whole(std::span<std::uint8_t> to) override;

private:
    std::uint32_t read_stored(std::span<std::uint8_t> to, std::uint64_t position, std::uint32_t crc32) const;
    void unpack_beginning();
    void unpack_all();
    std::uint32_t inflate(std::span<std::uint8_t> to) const;
    void check(std::uint32_t crc32) const;

    std::shared_ptr<const FileStream> m_file;
    MemberPlace m_place;
    std::string m_where;
    std::uint64_t m_position = 0;         ///< in the content
    std::uint32_t m_crc32 = 0;            ///< of the content before it
    std::vector<std::uint8_t> m_unpacked; ///< the first bytes of deflated content, or all of it
};

} // namespace spng
