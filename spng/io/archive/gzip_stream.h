// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/block_stream.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct z_stream_s;

namespace spng {

/// The content of a gzip file: all its members in sequence (RFC 1952; also BGZF blocks).
///
/// Checks checksum and length of each member at its end. As for `gzip -t`, zeros may follow the last member;
/// anything else is an error.
class GzipStream final : public BlockStream {
public:
    /// @param where  the file, named in errors
    GzipStream(std::shared_ptr<BlockStream> packed, std::string where);
    ~GzipStream() override;
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;

    /// Return the next unpacked bytes. All bytes before the damage come first.
    /// @throws Error(Input) if the file is damaged, cut short or followed by other bytes
    std::span<const std::uint8_t> next_block() override;

private:
    bool has_input();
    bool next_member_begins();
    void unpack();

    std::string m_where;
    std::shared_ptr<BlockStream> m_packed;
    std::unique_ptr<z_stream_s> m_zlib;
    std::vector<std::uint8_t> m_block;
    bool m_between_members = false;
    std::string m_problem; ///< empty if there is none so far
};

} // namespace spng
