// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/gzip_stream.h"

#define ZLIB_CONST // input is const
#include <zlib.h>

#include <algorithm>
#include <utility>

namespace spng {

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;
constexpr int gzip_window_bits = 16 + MAX_WBITS; // zlib: accept gzip only, and check headers and trailers
constexpr std::uint8_t first_magic = 0x1f;

} // namespace

GzipStream::GzipStream(std::shared_ptr<BlockStream> packed, std::string where)
    : m_where(std::move(where)), m_packed(std::move(packed)), m_zlib(std::make_unique<z_stream_s>()),
      m_block(block_bytes) {
    if (inflateInit2(m_zlib.get(), gzip_window_bits) != Z_OK) {
        throw std::bad_alloc();
    }
}

GzipStream::~GzipStream() {
    inflateEnd(m_zlib.get());
}

std::span<const std::uint8_t> GzipStream::next_block() {
    m_zlib->next_out = m_block.data();
    m_zlib->avail_out = static_cast<uInt>(m_block.size());
    while (m_zlib->avail_out > 0 && m_problem.empty() && (!m_between_members || next_member_begins())) {
        unpack();
    }
    const std::size_t unpacked = m_block.size() - m_zlib->avail_out;
    if (unpacked == 0 && !m_problem.empty()) {
        fail_compressed(m_where, m_problem, "gzip");
    }
    return {m_block.data(), unpacked};
}

void GzipStream::unpack() {
    if (!has_input()) {
        m_problem = "the end of the file inside the compressed data";
        return;
    }
    const int status = inflate(m_zlib.get(), Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
        m_between_members = true;
        inflateReset(m_zlib.get());
    } else if (status != Z_OK) {
        m_problem = m_zlib->msg != nullptr ? m_zlib->msg : "data that cannot be unpacked";
    }
}

/// Return true if there are packed bytes; read a block if needed.
bool GzipStream::has_input() {
    if (m_zlib->avail_in == 0) {
        const auto block = m_packed->next_block();
        m_zlib->next_in = block.data();
        m_zlib->avail_in = static_cast<uInt>(block.size());
    }
    return m_zlib->avail_in > 0;
}

/// Start the next member. Return false at the end of the file and at a problem.
bool GzipStream::next_member_begins() {
    if (has_input() && *m_zlib->next_in == first_magic) {
        m_between_members = false; // zlib rejects an invalid header of a member
        return true;
    }
    while (has_input()) {
        const std::span rest(m_zlib->next_in, m_zlib->avail_in);
        if (std::any_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte != 0; })) {
            m_problem = "bytes after the compressed data that are not a gzip member";
            break;
        }
        m_zlib->avail_in = 0;
    }
    return false;
}

} // namespace spng
