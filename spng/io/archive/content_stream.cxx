// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/content_stream.h"

#include "spng/io/archive/filter_stream.h"
#include "spng/io/archive/gzip_stream.h"

#include <archive.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace spng {

namespace {

struct Magic {
    std::string_view bytes; ///< at the beginning of a file
    Compression compression;
};

constexpr std::array<Magic, 3> compressions{{{"BZh", {"bzip2", ARCHIVE_FILTER_BZIP2}},
                                             {{"\xfd"
                                               "7zXZ\0",
                                               6},
                                              {"xz", ARCHIVE_FILTER_XZ}},
                                             {"\x28\xb5\x2f\xfd", {"zstd", ARCHIVE_FILTER_ZSTD}}}};

bool starts_with(std::span<const std::uint8_t> bytes, std::string_view magic) {
    return bytes.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), bytes.begin(),
                      [](char a, auto b) { return static_cast<std::uint8_t>(a) == b; });
}

} // namespace

std::shared_ptr<BlockStream> content_stream(std::shared_ptr<FileStream> file, const std::string& where) {
    const auto start = file->peek();
    if (starts_with(start, "\x1f\x8b")) {
        return std::make_shared<GzipStream>(std::move(file), where);
    }
    for (const auto& [magic, compression] : compressions) {
        if (starts_with(start, magic)) {
            return std::make_shared<FilterStream>(std::move(file), where, compression);
        }
    }
    return file;
}

} // namespace spng
