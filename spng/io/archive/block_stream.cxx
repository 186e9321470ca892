// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/block_stream.h"

#include "spng/core/error.h"
#include "spng/core/files/url.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace spng {

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;

[[noreturn]] void fail_file(const std::filesystem::path& path, const std::string& what, int error) {
    throw Error(ErrorKind::Input,
                {.what = what,
                 .where = path.string(),
                 .seen = std::strerror(error),
                 .expected = "a readable .npz or .tar file, also compressed (.gz, .bz2, .xz, .zst)",
                 .hint = url_hint(path.string(), "check the path and its permissions")});
}

} // namespace

std::int64_t BlockStream::seek(std::int64_t, int) {
    return -1;
}

void fail_compressed(const std::string& where, const std::string& seen, const std::string& format) {
    throw Error(ErrorKind::Input,
                {.what = "the compressed file is damaged or cut short",
                 .where = where,
                 .seen = seen,
                 .expected = "a complete " + format + " file, as " + format + " -t checks it",
                 .hint = "copy or write the file again; events that were read from it "
                         "before may be wrong"});
}

void fail_archive(const std::string& where, const std::string& seen) {
    throw Error(ErrorKind::Input, {.what = "the archive is damaged or cut short",
                                   .where = where,
                                   .seen = seen,
                                   .expected = "a complete archive",
                                   .hint = "copy or write the file again"});
}

FileStream::FileStream(const std::filesystem::path& path) : m_path(path), m_block(block_bytes) {
    m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (m_descriptor < 0) {
        fail_file(path, "cannot open the input file", errno);
    }
    struct stat status {};
    const int problem = ::fstat(m_descriptor, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
    if (problem != 0) {
        ::close(m_descriptor);
        fail_file(path, "cannot read the input file", problem);
    }
    m_seekable = S_ISREG(status.st_mode);
    m_size = static_cast<std::uint64_t>(status.st_size);
}

FileStream::~FileStream() {
    ::close(m_descriptor);
}

std::size_t FileStream::fill() {
    std::size_t filled = 0;
    while (filled < m_block.size()) { // a FIFO returns less than requested long before its end
        const ssize_t count = ::read(m_descriptor, m_block.data() + filled, m_block.size() - filled);
        if (count == 0) {
            break;
        }
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            fail_file(m_path, "cannot read the input file", errno);
        }
        filled += static_cast<std::size_t>(count);
    }
    return filled;
}

std::span<const std::uint8_t> FileStream::peek() {
    m_peeked = m_peeked > 0 ? m_peeked : fill();
    return {m_block.data(), m_peeked};
}

std::span<const std::uint8_t> FileStream::next_block() {
    const std::size_t count = m_peeked > 0 ? m_peeked : fill();
    m_peeked = 0;
    return {m_block.data(), count};
}

void FileStream::read_at(std::uint64_t position, std::span<std::uint8_t> to) const {
    if (position > m_size || m_size - position < to.size()) {
        fail_archive(m_path.string(), "a position beyond the end of the file");
    }
    for (std::size_t filled = 0; filled < to.size();) {
        const ssize_t count = ::pread(m_descriptor, to.data() + filled, to.size() - filled,
                                      static_cast<off_t>(position + filled));
        if (count == 0 || (count < 0 && errno != EINTR)) {
            fail_file(m_path, "cannot read the input file", count < 0 ? errno : EIO);
        }
        filled += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
}

double FileStream::share_read() const {
    const auto position = m_seekable ? ::lseek(m_descriptor, 0, SEEK_CUR) : -1;
    return position > 0 && m_size > 0 ? static_cast<double>(position) / static_cast<double>(m_size) : 0;
}

std::int64_t FileStream::seek(std::int64_t offset, int whence) {
    if (m_peeked > 0 && whence == SEEK_CUR) {
        offset -= static_cast<std::int64_t>(m_peeked); // the reader does not have these bytes yet
    }
    m_peeked = 0;
    return ::lseek(m_descriptor, offset, whence);
}

} // namespace spng
