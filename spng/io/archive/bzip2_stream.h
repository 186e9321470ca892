#pragma once

#include "spng/io/archive/archive_handle.h"
#include "spng/io/archive/block_stream.h"
#include "spng/io/archive/tracked_stream.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace spng {

/// The content of a bzip2 file, all its streams one after the other.
///
/// bzip2 checks itself by blocks. libarchive takes a stream whose header is damaged for the end of the file,
/// so the rest is checked here: zeros may follow the last stream, as for gzip, and anything else is an error.
class Bzip2Stream final : public BlockStream {
public:
    /// @param where  the file, named in errors
    Bzip2Stream(std::unique_ptr<BlockStream> packed, std::string where);
    Bzip2Stream(const Bzip2Stream&) = delete;
    Bzip2Stream& operator=(const Bzip2Stream&) = delete;

    /// Throws Error(Input) when the file is damaged, cut short or followed by something else.
    std::span<const std::uint8_t> next_block() override;

private:
    [[noreturn]] void fail(const std::string& seen) const;

    std::string m_where;
    TrackedStream m_packed;
    StreamCallbacks m_callbacks;
    std::unique_ptr<archive, ReadFree> m_archive;
    bool m_ended = false;
};

} // namespace spng
