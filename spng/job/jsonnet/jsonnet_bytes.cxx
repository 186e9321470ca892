// SPDX-License-Identifier: Apache-2.0
#include "spng/job/jsonnet/jsonnet_bytes.h"

#include "spng/core/printable.h"

#include <algorithm>
#include <utility>

namespace spng {
namespace {

// U+EF80 to U+EFFF in UTF-8: this byte, 0xbe or 0xbf, and one of 0x80 to 0xbf.
constexpr char mark = '\xee';
constexpr std::size_t mark_bytes = 3;

bool is_mark(std::string_view text) {
    return text.size() >= mark_bytes && text[0] == mark &&
           (static_cast<unsigned char>(text[1]) & 0xfeU) == 0xbe;
}

void append_mark(std::string& result, char byte) {
    const auto low = static_cast<unsigned char>(byte); // 0x80 or more
    result += mark;
    result += static_cast<char>(0xbcU | low >> 6U);
    result += static_cast<char>(0x80U | (low & 0x3fU));
}

} // namespace

std::string with_characters_for_bytes(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t count = utf8_character_bytes(text);
        const bool is_kept = count > 0 && !is_mark(text);
        const std::string_view piece = text.substr(0, std::max<std::size_t>(count, 1));
        if (is_kept) {
            result += piece;
        } else {
            std::for_each(piece.begin(), piece.end(), [&](char byte) { append_mark(result, byte); });
        }
        text.remove_prefix(piece.size());
    }
    return result;
}

std::string with_bytes(std::string text) {
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
        if (is_mark(std::string_view(text).substr(at))) {
            const auto second = static_cast<unsigned char>(text[at + 1]),
                       last = static_cast<unsigned char>(text[at + 2]);
            text.replace(at, mark_bytes, 1, static_cast<char>((second & 3U) << 6U | (last & 0x3fU)));
        }
    }
    return text;
}

void restore_bytes(nlohmann::json& value) {
    if (value.is_string()) {
        value = with_bytes(value.get<std::string>());
    } else if (value.is_array()) {
        std::for_each(value.begin(), value.end(), restore_bytes);
    } else if (value.is_object()) {
        nlohmann::json restored = nlohmann::json::object();
        for (auto& [key, member] : value.items()) {
            restore_bytes(member);
            restored[with_bytes(key)] = std::move(member);
        }
        value = std::move(restored);
    }
}

} // namespace spng
