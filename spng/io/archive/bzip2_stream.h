// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/archive_handle.h"
#include "spng/io/archive/block_stream.h"
#include "spng/io/archive/tracked_stream.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace spng {

/// The content of a bzip2 file: all its streams in sequence.
///
/// bzip2 has a checksum per block. libarchive takes a stream with a damaged header for the end of the file,
/// so this class checks the rest: zeros may follow the last stream, as for gzip; anything else is an error.
class Bzip2Stream final : public BlockStream {
public:
    /// @param where  the file, named in errors
    Bzip2Stream(std::unique_ptr<BlockStream> packed, std::string where);
    Bzip2Stream(const Bzip2Stream&) = delete;
    Bzip2Stream& operator=(const Bzip2Stream&) = delete;

    /// @throws Error(Input) if the file is damaged, cut short or followed by other bytes
    std::span<const std::uint8_t> next_block() override;

private:
    std::string m_where;
    TrackedStream m_packed;
    StreamCallbacks m_callbacks;
    std::unique_ptr<archive, ReadFree> m_archive;
    bool m_ended = false;
};

} // namespace spng
