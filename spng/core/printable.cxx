// SPDX-License-Identifier: Apache-2.0
#include "spng/core/printable.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>

namespace spng {
namespace {

unsigned char byte_at(std::string_view text, std::size_t index) {
    return static_cast<unsigned char>(text[index]);
}

bool continues(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80;
}

/// Tell whether a terminal may obey the character: controls of C0 and C1, DEL, and marks that reverse the direction of
/// writing, U+202A to U+202E and U+2066 to U+2069.
bool is_obeyed(std::string_view character) {
    const unsigned char first = byte_at(character, 0);
    if (character.size() == 1) {
        return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
    }
    const unsigned char second = byte_at(character, 1);
    if (character.size() == 2) {
        return first == 0xc2 && second < 0xa0;
    }
    const unsigned char third = byte_at(character, 2);
    return first == 0xe2 && ((second == 0x80 && third >= 0xaa && third <= 0xae) ||
                             (second == 0x81 && third >= 0xa6 && third <= 0xa9));
}

/// Write as \x1b what is no character, and the characters that `is_spelled` names.
template <class Test>
std::string spelled(std::string_view text, Test is_spelled) {
    constexpr const char* digits = "0123456789abcdef";
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::size_t count = utf8_character_bytes(text);
        const std::string_view character = text.substr(0, count == 0 ? 1 : count);
        if (count != 0 && !is_spelled(character)) {
            result += character;
        } else {
            for (std::size_t i = 0; i < character.size(); ++i) {
                result +=
                    {'\\', 'x', digits[byte_at(character, i) >> 4U], digits[byte_at(character, i) & 15U]};
            }
        }
        text.remove_prefix(character.size());
    }
    return result;
}

} // namespace

std::size_t utf8_character_bytes(std::string_view text) {
    const std::uint32_t first = byte_at(text, 0);
    const std::size_t count = first < 0x80        ? 1
                              : first >> 5U == 6  ? 2
                              : first >> 4U == 14 ? 3
                              : first >> 3U == 30 ? 4
                                                  : 0;
    if (count < 2 || count > text.size()) {
        return count == 1 ? 1 : 0;
    }
    std::uint32_t code = first & (0x7fU >> count);
    for (const char next : text.substr(1, count - 1)) {
        if (!continues(next)) {
            return 0;
        }
        code = code << 6U | (static_cast<unsigned char>(next) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> lowest{0, 0, 0x80, 0x800,
                                                  0x10000}; // a longer form of a character is no UTF-8
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code < lowest[count] || code > 0x10ffff || is_surrogate ? 0 : count;
}

std::string printable(std::string_view text) {
    return spelled(text, is_obeyed);
}

std::string valid_utf8(std::string_view text) {
    return spelled(text, [](std::string_view) { return false; });
}

std::string json_text(const nlohmann::json& value, int indent) {
    return value.dump(indent, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

std::string shortened(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) {
        return std::string(text);
    }
    std::size_t end = max_bytes / 2;
    while (end > 0 && continues(text[end])) {
        --end;
    }
    std::size_t begin = text.size() - max_bytes / 2;
    while (begin < text.size() && continues(text[begin])) {
        ++begin;
    }
    return std::string(text.substr(0, end)) + "... (" + std::to_string(text.size()) + " bytes) ..." +
           std::string(text.substr(begin));
}

} // namespace spng
