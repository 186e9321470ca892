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

/// A compression that libarchive unpacks.
struct Compression {
    const char* name; ///< also of the program
    int filter;       ///< libarchive's code
};

/// The content of a file compressed by bzip2, xz or zstd: all its streams in sequence.
///
/// bzip2 and xz have checksums, zstd has them if the writer wants it. libarchive takes a stream with a damaged header for
/// the end of the file, so this class checks the rest: zeros may follow the last stream, as for gzip; anything else is an
/// error.
class FilterStream final : public BlockStream {
public:
    /// @param where  the file, named in errors
    FilterStream(std::shared_ptr<BlockStream> packed, std::string where, Compression compression);
    FilterStream(const FilterStream&) = delete;
    FilterStream& operator=(const FilterStream&) = delete;

    /// @throws Error(Input) if the file is damaged, cut short or followed by other bytes
    std::span<const std::uint8_t> next_block() override;

private:
    [[noreturn]] void fail();

    std::string m_where;
    Compression m_compression;
    TrackedStream m_packed;
    StreamCallbacks m_callbacks;
    std::unique_ptr<archive, ReadFree> m_archive;
    bool m_ended = false;
};

} // namespace spng
