// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes that are not UTF-8, such as those of a file's name, through Jsonnet, whose strings have characters only.

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace spng {

/// Write each byte that is no part of a UTF-8 character as the private character U+EF00 + byte, and the bytes of such
/// characters, too. Other text stays as it is.
std::string with_characters_for_bytes(std::string_view text);

/// Undo with_characters_for_bytes().
std::string with_bytes(std::string text);

/// The same for all strings and keys of a document.
void restore_bytes(nlohmann::json& value);

} // namespace spng
