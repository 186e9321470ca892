#include "spng/io/partial_file.h"

#include "spng/core/error.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace spng {

namespace {

/// Hidden and in the same folder: a rename within a file system is atomic. Two writers of one process differ,
/// too.
std::filesystem::path temporary_for(const std::filesystem::path& path) {
    static std::atomic<unsigned> count{0};
    return path.parent_path() / ("." + path.filename().string() + "." + std::to_string(::getpid()) + "-" +
                                 std::to_string(count++) + ".partial");
}

} // namespace

PartialFile::PartialFile(std::filesystem::path path)
    : m_path(std::move(path)), m_temporary(temporary_for(m_path)) {
    m_descriptor = ::open(m_temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (m_descriptor < 0) {
        fail("cannot create the output file", errno);
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

void PartialFile::commit() {
    const int descriptor = std::exchange(m_descriptor, -1);
    const int problem = ::close(descriptor) != 0                                ? errno
                        : std::rename(m_temporary.c_str(), m_path.c_str()) != 0 ? errno
                                                                                : 0;
    if (problem != 0) {
        ::unlink(m_temporary.c_str());
        fail("cannot complete the output file", problem);
    }
}

void PartialFile::fail(const std::string& what, int error) {
    discard();
    throw Error(ErrorKind::Output, {.what = what,
                                    .where = m_path.string(),
                                    .seen = std::string(std::strerror(error)) + ", after " +
                                            std::to_string(m_written) + " bytes",
                                    .expected = "a folder that can be written, with room enough",
                                    .mend = "make room, or choose another output"});
}

void PartialFile::discard() noexcept {
    if (m_descriptor >= 0) {
        ::close(std::exchange(m_descriptor, -1));
        ::unlink(m_temporary.c_str());
    }
}

} // namespace spng
