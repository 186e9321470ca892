// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frame files for tests, made without the library under test: .npy bytes by this header, containers by
// libarchive.

#include <gtest/gtest.h>

#include <archive.h>
#include <archive_entry.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace spng::test {

/// Return the bytes of a .npy file.
/// @param shape  as Python writes it: "(2, 3)"
inline std::string npy_bytes(const std::string& type, const std::string& shape, const std::string& data,
                             bool fortran = false, int version = 1) {
    std::string dictionary = "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
                             ", 'shape': " + shape + ", }";
    const std::size_t prefix = version == 1 ? 10 : 12;
    dictionary.append(63 - (prefix + dictionary.size()) % 64, ' ');
    dictionary += '\n';
    std::string out = "\x93NUMPY";
    out += {static_cast<char>(version), '\0'};
    for (std::size_t i = 0; i < prefix - 8; ++i) {
        out += static_cast<char>(dictionary.size() >> (8 * i) & 0xFF);
    }
    return out + dictionary + data;
}

template <typename Item>
std::string bytes_of(const std::vector<Item>& items) {
    std::string out(items.size() * sizeof(Item), '\0');
    std::memcpy(out.data(), items.data(), out.size());
    return out;
}

using Members = std::vector<std::pair<std::string, std::string>>; ///< name, content

/// Return the members of one valid event: `channels` x `ticks` int16, sample = 100 * row + tick + ident,
/// channels 7, 8, ...
inline Members event_members(const std::string& tag, int ident, int channels = 3, int ticks = 4) {
    std::vector<std::int16_t> samples;
    std::vector<std::int32_t> numbers;
    for (int row = 0; row < channels; ++row) {
        numbers.push_back(7 + row);
        for (int tick = 0; tick < ticks; ++tick) {
            samples.push_back(static_cast<std::int16_t>(100 * row + tick + ident));
        }
    }
    const std::string end = "_" + tag + "_" + std::to_string(ident) + ".npy";
    const std::string rows = std::to_string(channels);
    return {
        {"frame" + end, npy_bytes("<i2", "(" + rows + ", " + std::to_string(ticks) + ")", bytes_of(samples))},
        {"channels" + end, npy_bytes("<i4", "(" + rows + ",)", bytes_of(numbers))},
        {"tickinfo" + end, npy_bytes("<f8", "(3,)", bytes_of<double>({-250.0, 500.0, 2.0}))}};
}

inline Members joined(Members first, const Members& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// Write `members` to `path` in the format of its ending (.npz, .tar, .tar.gz, .tar.bz2, .tar.xz, .tar.zst).
/// @param options  of libarchive's writer, such as "zip:compression=store"
inline void write_archive(const std::filesystem::path& path, const Members& members,
                          const char* options = nullptr) {
    const std::string name = path.string();
    std::filesystem::remove(path);
    archive* out = archive_write_new();
    name.ends_with(".npz") ? archive_write_set_format_zip(out) : archive_write_set_format_pax_restricted(out);
    if (name.ends_with(".gz")) {
        archive_write_add_filter_gzip(out);
    } else if (name.ends_with(".bz2")) {
        archive_write_add_filter_bzip2(out);
    } else if (name.ends_with(".xz")) {
        archive_write_add_filter_xz(out);
    } else if (name.ends_with(".zst")) {
        archive_write_add_filter_zstd(out);
    }
    archive_write_set_options(out, options);
    ASSERT_EQ(archive_write_open_filename(out, name.c_str()), ARCHIVE_OK);
    for (const auto& [member, content] : members) {
        archive_entry* entry = archive_entry_new();
        archive_entry_set_pathname(entry, member.c_str());
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
        ASSERT_EQ(archive_write_header(out, entry), ARCHIVE_OK);
        ASSERT_EQ(archive_write_data(out, content.data(), content.size()),
                  static_cast<la_ssize_t>(content.size()));
        archive_entry_free(entry);
    }
    ASSERT_EQ(archive_write_close(out), ARCHIVE_OK);
    archive_write_free(out);
}

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::filesystem::path& path, const std::string& content) {
    std::filesystem::remove(path); // ext4 flushes to disk when a file is truncated and written again
    std::ofstream(path, std::ios::binary) << content;
}

inline constexpr const char* all_endings[] = {".npz", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"};

} // namespace spng::test
