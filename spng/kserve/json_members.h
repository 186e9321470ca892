// SPDX-License-Identifier: Apache-2.0
#pragma once
// Members of the JSON objects of others. All throw Error(Input) with `where` for anything else than they name.

#include "spng/kserve/json_data.h"
#include "spng/kserve/protocol.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spng::kserve {

inline constexpr std::size_t max_shown = 200; // bytes of a foreign text in an error

/// Write a value for an error.
std::string shown(const nlohmann::json& value);

/// Parse an object, whose text has a limit of bytes and of depth.
nlohmann::json parse_object(std::string_view text, const std::string& where,
                            NotFinite not_finite = NotFinite::rejected);

/// Return the text of a key. Without the key, or with null: empty unless it is required.
std::string text_at(const nlohmann::json& object, const char* key, const std::string& where,
                    bool is_required);

/// Return a list of objects. Without the key: empty unless it is required.
const nlohmann::json& list_at(const nlohmann::json& object, const char* key, const std::string& where,
                              bool is_required);

/// Return the values of the key "parameters". Objects and lists become text, as they are over gRPC.
Parameters parameters_of(const nlohmann::json& object, const std::string& where);

/// Return the key "shape" of a tensor.
std::vector<std::int64_t> shape_of(const nlohmann::json& tensor, const std::string& where);

} // namespace spng::kserve
