#include "spng/io/archive_reader.h"

#include "spng/core/error.h"
#include "spng/io/decompressed_stream.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace spng {

namespace {

constexpr const char* containers = "a .npz (zip), .tar, .tar.gz or .tar.bz2 file";

bool starts_with(std::span<const std::uint8_t> bytes, std::string_view magic) {
    return bytes.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), bytes.begin(),
                      [](char a, auto b) { return static_cast<std::uint8_t>(a) == b; });
}

std::string path_of(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr) { // not expressible in the current locale
        name = archive_entry_pathname_utf8(entry);
    }
    return name != nullptr ? name : "";
}

} // namespace

ArchiveReader::ArchiveReader(std::filesystem::path path) : m_path(std::move(path)) {
    open();
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::open() {
    auto file = std::make_unique<FileStream>(m_path);
    const auto start = file->peek();
    if (start.empty()) {
        throw Error(ErrorKind::Input, {.what = "the input file is empty",
                                       .where = m_path.string(),
                                       .seen = "0 bytes",
                                       .expected = containers,
                                       .mend = "write the file again"});
    }
    const bool is_gzip = starts_with(start, "\x1f\x8b");
    const bool is_bzip2 = starts_with(start, "BZh");
    if (is_gzip || is_bzip2) {
        m_stream = std::make_unique<DecompressedStream>(
            std::move(file), is_gzip ? Compression::gzip : Compression::bzip2, m_path.string());
    } else {
        m_stream = std::move(file);
    }
    m_callbacks = std::make_unique<StreamCallbacks>(*m_stream);
    m_archive.reset(archive_read_new());
    archive_read_support_format_tar(m_archive.get());
    archive_read_support_format_zip(m_archive.get());
    const int status = m_callbacks->open(m_archive.get());
    if (status != ARCHIVE_OK) {
        fail(status);
    }
}

bool ArchiveReader::next_member() {
    m_member_open = false;
    while (m_archive) {
        archive_entry* entry = nullptr;
        const int status = archive_read_next_header(m_archive.get(), &entry);
        if (status == ARCHIVE_EOF) {
            while (!m_stream->next_block().empty()) { // what follows the end of a tar carries its checksum
            }
            m_archive.reset();
            break;
        }
        if (status < ARCHIVE_WARN) {
            fail(status);
        }
        if (archive_entry_filetype(entry) == AE_IFREG) {
            m_member_path = path_of(entry);
            m_name = m_member_path.substr(m_member_path.rfind('/') + 1); // npos + 1 is 0
            m_declared_bytes = archive_entry_size_is_set(entry) != 0
                                   ? std::optional(static_cast<std::uint64_t>(archive_entry_size(entry)))
                                   : std::nullopt;
            m_member_open = true;
            return true;
        }
    }
    return false;
}

std::size_t ArchiveReader::read(void* to, std::size_t bytes) {
    if (!m_member_open || !m_archive) {
        return 0;
    }
    const la_ssize_t count = archive_read_data(m_archive.get(), to, bytes);
    if (count < 0) { // a warning is one about a checksum: fatal for data
        fail(static_cast<int>(count));
    }
    return static_cast<std::size_t>(count);
}

std::string ArchiveReader::where() const {
    return m_member_open ? m_path.string() + ", member " + m_name : m_path.string();
}

void ArchiveReader::fail(int status) {
    const auto handle = std::move(m_archive);
    m_callbacks->rethrow();
    const std::string reason = error_text(handle.get());
    const bool unknown = archive_format(handle.get()) == 0 && status == ARCHIVE_FATAL;
    throw Error(ErrorKind::Input,
                {.what = unknown ? "the input file is not an archive" : "the archive is damaged or cut short",
                 .where = where(),
                 .seen = reason,
                 .expected = unknown ? containers : "a complete archive",
                 .mend = unknown ? "give a frame file" : "copy or write the file again"});
}

} // namespace spng
