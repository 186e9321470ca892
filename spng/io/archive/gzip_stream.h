#pragma once

#include "spng/io/archive/block_stream.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct z_stream_s;

namespace spng {

/// The content of a gzip file, all its members one after the other (RFC 1952; also BGZF blocks).
///
/// Checksum and length of each member are compared when its end is reached. As for `gzip -t`, zeros may
/// follow the last member and anything else is an error.
class GzipStream final : public BlockStream {
public:
    /// @param where  the file, named in errors
    GzipStream(std::unique_ptr<BlockStream> packed, std::string where);
    ~GzipStream() override;
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;

    /// Throws Error(Input) when the file is damaged, cut short or followed by something else, after all that
    /// could be unpacked before.
    std::span<const std::uint8_t> next_block() override;

private:
    bool has_input();
    bool next_member_begins();
    void unpack();
    [[noreturn]] void fail() const;

    std::string m_where;
    std::unique_ptr<BlockStream> m_packed;
    std::unique_ptr<z_stream_s> m_zlib;
    std::vector<std::uint8_t> m_block;
    bool m_between_members = false;
    std::string m_problem; ///< empty: none so far
};

} // namespace spng
