// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate/container.h"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <cstdint>
#include <memory>

namespace spng::fuzz {
namespace {

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;

/// Read the current entry, at most 1 MB of it.
std::string content_of(archive* reader) {
    std::string content;
    std::array<char, 1 << 14> block;
    la_ssize_t count = 0;
    while (content.size() < (1U << 20) &&
           (count = archive_read_data(reader, block.data(), block.size())) > 0) {
        content.append(block.data(), static_cast<std::size_t>(count));
    }
    return content;
}

la_ssize_t append(archive*, void* out, const void* bytes, std::size_t count) {
    static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), count);
    return static_cast<la_ssize_t>(count);
}

std::string write(archive* handle, const std::vector<Member>& members, bool has_sizes = true) {
    const Writer writer(handle, &archive_write_free);
    std::string out;
    archive_write_set_bytes_in_last_block(handle, 1);
    archive_write_open(handle, &out, nullptr, &append, nullptr);
    for (const Member& member : members) {
        const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                                  &archive_entry_free);
        archive_entry_set_pathname(entry.get(), member.name.c_str());
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_perm(entry.get(), 0644);
        if (has_sizes) {
            archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
        }
        archive_write_header(handle, entry.get());
        archive_write_data(handle, member.content.data(), member.content.size());
    }
    archive_write_close(handle);
    return out;
}

} // namespace

std::vector<Member> unpack(const std::string& bytes) {
    const Reader reader(archive_read_new(), &archive_read_free);
    archive_read_support_filter_all(reader.get());
    archive_read_support_format_tar(reader.get());
    archive_read_support_format_zip(reader.get());
    std::vector<Member> members;
    archive_entry* entry = nullptr;
    if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) == ARCHIVE_OK) {
        while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
            const char* name = archive_entry_pathname(entry);
            members.push_back({name != nullptr ? name : "", content_of(reader.get())});
        }
    }
    return members;
}

std::string pack(const std::vector<Member>& members, Container container) {
    archive* const handle = archive_write_new();
    if (container == Container::zip || container == Container::stored_zip ||
        container == Container::streamed_zip) {
        archive_write_set_format_zip(handle);
        archive_write_set_options(handle, container == Container::stored_zip ? "zip:compression=store"
                                                                             : "zip:compression-level=1");
    } else {
        archive_write_set_format_pax_restricted(handle);
    }
    if (container == Container::tar_gz) {
        archive_write_add_filter_gzip(handle);
        archive_write_set_options(handle, "gzip:compression-level=1");
    } else if (container == Container::tar_bz2) {
        archive_write_add_filter_bzip2(handle);
        archive_write_set_options(handle, "bzip2:compression-level=1");
    }
    return write(handle, members, container != Container::streamed_zip);
}

std::string compress(const std::string& bytes, Compression compression) {
    archive* const handle = archive_write_new();
    archive_write_set_format_raw(handle);
    switch (compression) {
    case Compression::gzip:
        archive_write_add_filter_gzip(handle);
        break;
    case Compression::bzip2:
        archive_write_add_filter_bzip2(handle);
        break;
    case Compression::xz:
        archive_write_add_filter_xz(handle);
        break;
    case Compression::zstd:
        archive_write_add_filter_zstd(handle);
        break;
    case Compression::none:
        break;
    }
    return write(handle, {{"content", bytes}});
}

std::string decompress(const std::string& bytes) {
    const Reader reader(archive_read_new(), &archive_read_free);
    archive_read_support_filter_all(reader.get());
    archive_read_support_format_raw(reader.get());
    archive_entry* entry = nullptr;
    const bool is_open = archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) == ARCHIVE_OK &&
                         archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK;
    return is_open ? content_of(reader.get()) : "";
}

Container any_container(Random& random) {
    constexpr std::array containers{Container::zip, Container::stored_zip, Container::streamed_zip,
                                    Container::tar, Container::tar_gz};
    return random.one_in(32) ? Container::tar_bz2 : random.pick(containers);
}

Compression any_compression(Random& random) {
    constexpr std::array slow{Compression::bzip2, Compression::xz, Compression::zstd};
    return random.one_in(64) ? random.pick(slow) : random.one_in(8) ? Compression::gzip : Compression::none;
}

} // namespace spng::fuzz
