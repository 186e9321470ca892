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
#include <numeric>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace spng {

namespace {

constexpr const char* containers = "a .npz (zip) or .tar file, also compressed (.gz, .bz2, .xz, .zst)";

constexpr int stream_side = -1; // end of libarchive's chain of filters
constexpr std::int64_t tar_block = 512;
constexpr std::uint16_t zip_stored = 0, zip_deflated = 8; // methods
constexpr std::uint16_t zip_encrypted = 1;                // flag

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

/// Return whether members of this kind are read at their places.
bool can_be_placed(const ZipMember& member) {
    return (member.flags & zip_encrypted) == 0 &&
           (member.method == zip_stored || member.method == zip_deflated);
}

} // namespace

ArchiveReader::ArchiveReader(std::filesystem::path path, MemberOrder order)
    : m_path(std::move(path)), m_order(std::move(order)) {
    open();
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::open() {
    auto file = std::make_shared<FileStream>(m_path);
    m_file = file;
    const auto start = file->peek();
    if (start.empty()) {
        throw Error(ErrorKind::Input, {.what = "the input file is empty",
                                       .where = m_path.string(),
                                       .seen = "0 bytes",
                                       .expected = containers,
                                       .hint = "write the file again"});
    }
    m_may_be_listed = is_zip_member(start) && file->seekable();
    auto content = content_stream(std::move(file), m_path.string());
    m_is_compressed = content != m_file;
    m_stream = std::make_unique<TrackedStream>(std::move(content));
    m_callbacks = std::make_unique<StreamCallbacks>(*m_stream);
    m_archive.reset(archive_read_new());
    archive_read_support_format_tar(m_archive.get());
    archive_read_support_format_zip_streamable(m_archive.get());
    const int status = m_callbacks->open(m_archive.get());
    if (status != ARCHIVE_OK) {
        fail(status);
    }
}
bool ArchiveReader::next_member() {
    m_member_open = false;
    m_place.reset();
    m_placed.reset();
    if (std::exchange(m_may_be_listed, false)) {
        list_zip_members();
    }
    return m_is_listed ? next_listed_member() : next_member_in_order();
}

/// List the members of a zip by its directory. A file that is cut short has none: read it in order, so that its complete
/// members come out before the error.
void ArchiveReader::list_zip_members() {
    std::vector<ZipMember> members;
    try {
        members = verified_zip_directory(*m_file);
    } catch (const NoZipDirectory&) {
        return;
    } catch (const std::invalid_argument& problem) {
        fail_damaged(problem.what());
    }
    if (!std::all_of(members.begin(), members.end(), can_be_placed)) {
        return;
    }
    std::erase_if(members, [](const ZipMember& member) { return base_name(member.name).empty(); }); // folders
    auto order = m_order ? m_order(base_names(members)) : std::vector<std::size_t>{};
    if (order.empty()) {
        order.resize(members.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
    }
    for (const std::size_t position : order) {
        const ZipMember& member = members[position];
        m_listed.push_back({member.name, member.data, member.packed_bytes, member.bytes,
                            member.method == zip_deflated, member.checksum});
    }
    m_is_listed = true;
    m_archive.reset();
}

bool ArchiveReader::next_listed_member() {
    if (m_next_listed == m_listed.size()) {
        return false;
    }
    const MemberPlace& place = m_listed[m_next_listed++];
    enter(place.path, place.bytes);
    m_place = place;
    m_placed = placed_member();
    return true;
}

bool ArchiveReader::next_member_in_order() {
    const Utf8Names names;
    while (m_archive) {
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
        const std::string path = path_of(entry);
        if (is_zip()) {
            m_zip_names.push_back(is_file ? base_name(path) : "");
        }
        if (is_file) {
            enter(path, archive_entry_size_is_set(entry) != 0
                            ? std::optional(static_cast<std::uint64_t>(archive_entry_size(entry)))
                            : std::nullopt);
            m_place = place_of(entry);
            m_placed = placed_member();
            return true;
        }
    }
    return false;
}

void ArchiveReader::enter(const std::string& path, std::optional<std::uint64_t> declared_bytes) {
    m_member_path = path;
    m_name = base_name(path);
    m_declared_bytes = declared_bytes;
    m_member_open = true;
}

/// Return the place of a member of a tar, if its bytes are in the file as they are and complete.
std::optional<MemberPlace> ArchiveReader::place_of(archive_entry* entry) const {
    const auto begin = static_cast<std::uint64_t>(archive_filter_bytes(m_archive.get(), stream_side));
    const std::uint64_t bytes = m_declared_bytes.value_or(0);
    if (is_zip() || m_is_compressed || !m_file->seekable() || archive_entry_sparse_count(entry) > 0 ||
        archive_entry_hardlink(entry) != nullptr || begin > m_file->size() ||
        m_file->size() - begin < bytes) {
        return std::nullopt;
    }
    return MemberPlace{m_member_path, begin, bytes, bytes, false, std::nullopt};
}

std::unique_ptr<PlacedMember> ArchiveReader::placed_member() const {
    return m_place ? std::make_unique<PlacedMember>(m_file, *m_place, where()) : nullptr;
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

/// Compare the members with the directory behind them.
void ArchiveReader::check_zip_end(std::uint64_t position) {
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
    return m_listed.empty() ? m_file->share_read()
                            : static_cast<double>(m_next_listed) / static_cast<double>(m_listed.size());
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
    if (m_placed) {
        return m_placed->read(to, bytes);
    }
    if (!m_member_open || !m_archive) {
        return 0;
    }
    const la_ssize_t count = archive_read_data(m_archive.get(), to, bytes);
    if (count < 0) { // includes warnings: they are about checksums
        fail(static_cast<int>(count));
    }
    return static_cast<std::size_t>(count);
}

bool ArchiveReader::read_whole(std::span<std::uint8_t> to) {
    return m_placed && m_placed->read_whole(to);
}

std::uint64_t ArchiveReader::plausible_bytes() const {
    return m_placed ? m_placed->plausible_bytes()
                    : std::max(ByteSource::plausible_bytes(), largest_deflate_ratio * m_file->size());
}

std::string ArchiveReader::where() const {
    return m_member_open ? m_path.string() + ", member " + m_name : m_path.string();
}

void ArchiveReader::fail_damaged(const std::string& seen) {
    m_archive.reset();
    fail_archive(where(), seen);
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
