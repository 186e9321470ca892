// SPDX-License-Identifier: Apache-2.0
#include "spng/core/printable.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace spng {
namespace {

bool is_control(unsigned char byte) {
    return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
}

/// Return the count of bytes at the front that a terminal may obey: 1 for a control character, 2 for one of C1, 3 for
/// a mark of direction (U+202A to U+202E, U+2066 to U+2069), all in UTF-8; otherwise 0.
std::size_t obeyed_bytes(std::string_view text) {
    const auto byte = [text](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
    };
    if (is_control(byte(0))) {
        return 1;
    }
    if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) <= 0x9f) {
        return 2;
    }
    const bool reverses = byte(0) == 0xe2 && ((byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
                                              (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9));
    return reverses ? 3 : 0;
}

bool is_inside_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80; // of UTF-8
}

/// Cut at characters, not inside them.
std::string shortened(std::string_view text, std::size_t max_bytes) {
    std::size_t end = max_bytes / 2;
    while (end > 0 && is_inside_character(text[end])) {
        --end;
    }
    std::size_t begin = text.size() - max_bytes / 2;
    while (begin < text.size() && is_inside_character(text[begin])) {
        ++begin;
    }
    return std::string(text.substr(0, end)) + "... (" + std::to_string(text.size()) + " bytes) ..." +
           std::string(text.substr(begin));
}

} // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
    const std::string kept = text.size() > max_bytes ? shortened(text, max_bytes) : std::string(text);
    std::string result;
    result.reserve(kept.size());
    for (std::size_t at = 0; at < kept.size();) {
        const std::size_t obeyed = obeyed_bytes(std::string_view(kept).substr(at));
        for (std::size_t i = 0; i < obeyed; ++i) {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\x%02x",
                          static_cast<unsigned int>(static_cast<unsigned char>(kept[at + i])));
            result += escape.data();
        }
        result.append(kept, at, obeyed == 0 ? 1 : 0);
        at += std::max<std::size_t>(obeyed, 1);
    }
    return result;
}

} // namespace spng
