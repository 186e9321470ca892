// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/archive_reader.h"

#include "spng/core/error.h"
#include "spng/io/archive/content_stream.h"
#include "spng/io/archive/foreign_file.h"
#include "spng/io/archive/zip_directory.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace spng {

namespace {

constexpr const char* containers = "a .npz (zip), .tar, .tar.gz or .tar.bz2 file";

constexpr int stream_side = -1; // end of libarchive's chain of filters
constexpr std::int64_t tar_block = 512;

std::string base_name(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1)); // npos + 1 is 0
}

std::string path_of(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr) { // not expressible in the current locale
        name = archive_entry_pathname_utf8(entry);
    }
    return name != nullptr ? name : "";
}

/// Return whether the bytes begin with the header of a member of a zip.
bool is_zip_member(std::span<const std::uint8_t> bytes) {
    constexpr std::array<std::uint8_t, 4> mark{'P', 'K', 3, 4};
    return bytes.size() >= mark.size() && std::equal(mark.begin(), mark.end(), bytes.begin());
}

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

/// libarchive may convert names in other alphabets.
bool is_same_name(const std::string& listed, const std::string& found) {
    return listed == found || !is_ascii(listed);
}

/// Return the names without folders; empty for a folder.
std::vector<std::string> base_names(const std::vector<ZipMember>& members) {
    std::vector<std::string> names;
    for (const ZipMember& member : members) {
        names.push_back(base_name(member.name));
    }
    return names;
}

} // namespace

ArchiveReader::ArchiveReader(std::filesystem::path path, MemberOrder order)
    : m_path(std::move(path)), m_order(std::move(order)) {
    open();
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::open() {
    auto file = std::make_unique<FileStream>(m_path);
    const auto start = file->peek();
    if (!is_zip_member(start) || !file->seekable()) {
        m_order = {};
    }
    if (start.empty()) {
        throw Error(ErrorKind::Input, {.what = "the input file is empty",
                                       .where = m_path.string(),
                                       .seen = "0 bytes",
                                       .expected = containers,
                                       .hint = "write the file again"});
    }
    const FileStream* const plain = file.get();
    auto content = content_stream(std::move(file), m_path.string());
    m_file = plain;
    m_is_compressed = content.get() != plain;
    m_plain_file = !m_is_compressed && plain->seekable() ? plain : nullptr;
    m_stream = std::make_unique<TrackedStream>(std::move(content));
    m_callbacks = std::make_unique<StreamCallbacks>(*m_stream);
    m_archive.reset(archive_read_new());
    archive_read_support_format_tar(m_archive.get());
    archive_read_support_format_zip(m_archive.get());
    const int status = m_callbacks->open(m_archive.get());
    if (status != ARCHIVE_OK) {
        fail(status);
    }
}

/// Go to the header of the next member in the order that was asked for.
/// @return false at the end
bool ArchiveReader::open_ordered_member() {
    m_archive.reset();
    if (m_zip_position == m_zip_order.size()) {
        return false;
    }
    m_stream->seek(static_cast<std::int64_t>(m_zip_headers[listed_position()]), SEEK_SET);
    m_callbacks = std::make_unique<StreamCallbacks>(*m_stream);
    m_archive.reset(archive_read_new());
    archive_read_support_format_zip_streamable(m_archive.get());
    m_in_entry = false;
    const int status = m_callbacks->open(m_archive.get(), /*may_seek=*/false);
    if (status != ARCHIVE_OK) {
        fail(status);
    }
    return true;
}

/// Return the position of the next member in the directory.
std::size_t ArchiveReader::listed_position() const {
    return m_zip_position < m_zip_order.size() ? m_zip_order[m_zip_position] : m_zip_position;
}

bool ArchiveReader::next_member() {
    const Utf8Names names;
    m_member_open = false;
    if (const MemberOrder order = std::exchange(m_order, {})) {
        read_zip_directory();
        m_zip_order = order(m_zip_names);
    }
    while (m_archive && (m_zip_order.empty() || open_ordered_member())) {
        if (m_in_entry && archive_read_data_skip(m_archive.get()) < ARCHIVE_WARN) {
            fail(ARCHIVE_FATAL);
        }
        m_in_entry = false;
        const std::int64_t before = archive_filter_bytes(m_archive.get(), stream_side);
        archive_entry* entry = nullptr;
        const int status = archive_read_next_header(m_archive.get(), &entry);
        if (status == ARCHIVE_EOF) {
            check_end(before);
            m_archive.reset();
            break;
        }
        if (status < ARCHIVE_WARN || status == ARCHIVE_RETRY) { // retry means a damaged tar header
            fail(status);
        }
        m_in_entry = true;
        const bool is_file = archive_entry_filetype(entry) == AE_IFREG;
        const std::string member = path_of(entry);
        if (is_zip()) {
            check_zip_member(base_name(member), is_file);
        }
        if (is_file) {
            m_member_path = member;
            m_name = base_name(member);
            m_declared_bytes = archive_entry_size_is_set(entry) != 0
                                   ? std::optional(static_cast<std::uint64_t>(archive_entry_size(entry)))
                                   : std::nullopt;
            m_member_open = true;
            return true;
        }
    }
    return false;
}

bool ArchiveReader::is_zip() const {
    return (archive_format(m_archive.get()) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP;
}

/// Check the end of the archive.
/// @param before  bytes of the archive used by the members
void ArchiveReader::check_end(std::int64_t before) {
    const std::int64_t used = archive_filter_bytes(m_archive.get(), stream_side);
    if (is_zip()) {
        check_zip_end(static_cast<std::uint64_t>(used));
    } else if (used - before < tar_block) {
        fail_damaged("the end of the file instead of a member or the end mark of a tar");
    }
    // In a compressed file the checksum is verified only when the bytes after the tar are read.
    if (!is_zip() && !m_stream->only_zeros_from(static_cast<std::uint64_t>(used))) {
        fail_damaged("bytes after the end mark of a tar");
    }
    while (!m_stream->next_block().empty()) {
    }
}

/// Compare a member with the directory of the zip. For a stream, note the member for check_zip_end().
void ArchiveReader::check_zip_member(const std::string& name, bool is_file) {
    read_zip_directory();
    if (m_plain_file == nullptr) {
        m_zip_names.push_back(is_file ? name : "");
        return;
    }
    const std::size_t position = listed_position();
    const std::string expected = position < m_zip_names.size() ? m_zip_names[position] : "";
    ++m_zip_position;
    if (!is_same_name(expected, is_file ? name : "")) {
        fail_damaged("member '" + name + "' where the directory lists " +
                     (expected.empty() ? "no file" : "'" + expected + "'"));
    }
}

/// Read the directory of a zip, once. A file that is cut short has none: read it as a stream, so that its
/// complete members come out before the error.
void ArchiveReader::read_zip_directory() {
    if (m_plain_file != nullptr && !m_zip_is_listed) {
        m_zip_is_listed = true;
        try {
            const auto members = verified_zip_directory(*m_plain_file);
            m_zip_names = base_names(members);
            for (const ZipMember& member : members) {
                m_zip_headers.push_back(member.header);
            }
        } catch (const NoZipDirectory& problem) {
            m_zip_problem = problem.what();
            m_plain_file = nullptr;
        } catch (const std::invalid_argument& problem) {
            fail_damaged(problem.what());
        }
    }
}

void ArchiveReader::check_zip_end(std::uint64_t position) {
    read_zip_directory();
    if (!m_zip_problem.empty()) {
        fail_damaged(m_zip_problem);
    }
    if (m_plain_file != nullptr) {
        if (m_zip_position != m_zip_names.size()) {
            fail_damaged("no member where the directory lists '" + m_zip_names[m_zip_position] + "'");
        }
        return;
    }
    try {
        const auto listed = base_names(parse_zip_directory(m_stream->rest_from(position), position));
        if (!std::equal(listed.begin(), listed.end(), m_zip_names.begin(), m_zip_names.end(), is_same_name)) {
            fail_damaged("members that differ from the directory");
        }
    } catch (const std::invalid_argument& problem) {
        fail_damaged(problem.what());
    }
}

double ArchiveReader::share_read() const {
    return m_zip_order.empty()
               ? m_file->share_read()
               : static_cast<double>(m_zip_position) / static_cast<double>(m_zip_order.size());
}

void ArchiveReader::require_whole() const {
    if (!m_is_compressed) {
        return;
    }
    std::error_code problem;
    if (!std::filesystem::is_regular_file(m_path, problem)) { // also if the file no longer exists
        return;
    }
    const auto content = content_stream(std::make_unique<FileStream>(m_path), m_path.string());
    while (!content->next_block().empty()) {
    }
}

std::size_t ArchiveReader::read(void* to, std::size_t bytes) {
    if (!m_member_open || !m_archive) {
        return 0;
    }
    const la_ssize_t count = archive_read_data(m_archive.get(), to, bytes);
    if (count < 0) { // includes warnings: they are about checksums
        fail(static_cast<int>(count));
    }
    return static_cast<std::size_t>(count);
}

std::string ArchiveReader::where() const {
    return m_member_open ? m_path.string() + ", member " + m_name : m_path.string();
}

void ArchiveReader::fail_damaged(const std::string& seen) {
    m_archive.reset();
    throw Error(ErrorKind::Input, {.what = "the archive is damaged or cut short",
                                   .where = where(),
                                   .seen = seen,
                                   .expected = "a complete archive",
                                   .hint = "copy or write the file again"});
}

void ArchiveReader::fail(int status) {
    const auto handle = std::move(m_archive);
    m_callbacks->rethrow();
    const std::string reason = error_text(handle.get());
    const bool unknown = archive_format(handle.get()) == 0 && status == ARCHIVE_FATAL;
    const auto other = foreign_file(m_path);
    throw Error(ErrorKind::Input,
                {.what = unknown ? "the input file is not an archive" : "the archive is damaged or cut short",
                 .where = where(),
                 .seen = other ? other->kind : reason,
                 .expected = unknown ? containers : "a complete archive",
                 .hint = other     ? other->hint
                         : unknown ? "give a frame file"
                                   : "copy or write the file again"});
}

} // namespace spng
