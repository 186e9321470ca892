// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/filter_stream.h"

#include <archive.h>

#include <utility>

namespace spng {

namespace {

constexpr int packed_side = -1; // end of libarchive's chain of filters

} // namespace

FilterStream::FilterStream(std::shared_ptr<BlockStream> packed, std::string where, Compression compression)
    : m_where(std::move(where)), m_compression(compression), m_packed(std::move(packed)),
      m_callbacks(m_packed), m_archive(archive_read_new()) {
    // Set exactly one filter: by default libarchive also unpacks a .bz2 inside a .bz2.
    archive_read_append_filter(m_archive.get(), m_compression.filter);
    archive_read_support_format_raw(m_archive.get()); // set_format() knows it since libarchive 3.5
    archive_entry* entry = nullptr;
    if (m_callbacks.open(m_archive.get()) != ARCHIVE_OK ||
        archive_read_next_header(m_archive.get(), &entry) != ARCHIVE_OK) {
        fail();
    }
}

std::span<const std::uint8_t> FilterStream::next_block() {
    if (m_ended) {
        return {};
    }
    const void* bytes = nullptr;
    std::size_t count = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(m_archive.get(), &bytes, &count, &offset);
    if (status == ARCHIVE_EOF) {
        m_ended = true;
        const auto used = archive_filter_bytes(m_archive.get(), packed_side);
        if (!m_packed.only_zeros_from(static_cast<std::uint64_t>(used))) {
            fail_compressed(m_where, "bytes after the compressed data that are no stream",
                            m_compression.name);
        }
        return {};
    }
    if (status != ARCHIVE_OK) {
        fail();
    }
    return {static_cast<const std::uint8_t*>(bytes), count};
}

void FilterStream::fail() {
    m_callbacks.rethrow();
    fail_compressed(m_where, error_text(m_archive.get()), m_compression.name);
}

} // namespace spng
