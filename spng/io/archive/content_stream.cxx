// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/content_stream.h"

#include "spng/io/archive/bzip2_stream.h"
#include "spng/io/archive/gzip_stream.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace spng {

namespace {

bool starts_with(std::span<const std::uint8_t> bytes, std::string_view magic) {
    return bytes.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), bytes.begin(),
                      [](char a, auto b) { return static_cast<std::uint8_t>(a) == b; });
}

} // namespace

std::unique_ptr<BlockStream> content_stream(std::unique_ptr<FileStream> file, const std::string& where) {
    const auto start = file->peek();
    if (starts_with(start, "\x1f\x8b")) {
        return std::make_unique<GzipStream>(std::move(file), where);
    }
    if (starts_with(start, "BZh")) {
        return std::make_unique<Bzip2Stream>(std::move(file), where);
    }
    return file;
}

} // namespace spng
