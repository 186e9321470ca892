// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text from files, for terminals, logs, JSON and Python.

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace spng {

/// Write as \x1b what a terminal may obey (controls except newline and tab, and marks that reverse the direction of
/// writing), because a name in a file could change the terminal's title, colours or keys; and bytes that are not UTF-8,
/// which JSON and Python do not take.
std::string printable(std::string_view text);

/// Return the count of bytes of the UTF-8 character with which the text begins; 0 if it does not begin with one.
std::size_t utf8_character_bytes(std::string_view text);

/// Write bytes that are not UTF-8 as \x1b, and leave everything else as it is.
std::string valid_utf8(std::string_view text);

/// Write a JSON document. Bytes that are not UTF-8, as in names of files, become U+FFFD.
/// @param indent  blanks for each level; negative: one line
std::string json_text(const nlohmann::json& value, int indent = -1);

/// Replace the middle of a text longer than `max_bytes` by "... (N bytes) ...", which is added to the max_bytes that
/// are kept. Cut between characters.
std::string shortened(std::string_view text, std::size_t max_bytes);

} // namespace spng
