// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spng {

/// Write a JSON document. Bytes that are not UTF-8, as in names of files, become U+FFFD.
/// @param indent  blanks for each level; negative: one line
std::string json_text(const nlohmann::json& value, int indent = -1);

} // namespace spng
