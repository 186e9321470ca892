// SPDX-License-Identifier: Apache-2.0
#include "spng/core/files/partial_file.h"

#include "spng/core/error.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace spng {

PartialFile::PartialFile(const std::filesystem::path& path)
    : m_path(path), m_temporary(std::make_unique<TemporaryFile>(path)) {
    const int how = m_temporary->in_place() ? O_APPEND | O_NOCTTY : O_CREAT | O_EXCL;
    m_descriptor = ::open(m_temporary->path().c_str(), O_WRONLY | O_CLOEXEC | how, 0666);
    if (m_descriptor < 0) {
        fail(m_temporary->in_place() ? "cannot open the output" : "cannot create the output file", errno);
    }
}

PartialFile::~PartialFile() {
    discard();
}

void PartialFile::write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(m_descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            fail("cannot write the output file", count < 0 ? errno : ENOSPC);
        }
        m_written += static_cast<std::uint64_t>(count);
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

void PartialFile::mark_worth_keeping() noexcept {
    if (m_temporary) {
        m_temporary->mark_worth_keeping();
    }
}

void PartialFile::commit() {
    if (::close(std::exchange(m_descriptor, -1)) != 0) { // some file systems report a full disk only here
        fail("cannot complete the output file", errno);
    }
    const auto temporary = std::move(m_temporary);
    temporary->commit();
}

void PartialFile::fail(const std::string& what, int error) {
    discard();
    throw Error(
        ErrorKind::Output,
        {.what = what,
         .where = m_path.string(),
         .seen = std::string(std::strerror(error)) + ", after " + std::to_string(m_written) + " bytes",
         .expected = "a writable folder with enough space",
         .hint = "free space, or choose another output, and run again; the incomplete file is removed"});
}

void PartialFile::discard() noexcept {
    if (m_descriptor >= 0) {
        ::close(std::exchange(m_descriptor, -1));
    }
    m_temporary.reset();
}

} // namespace spng
