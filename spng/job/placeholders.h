// SPDX-License-Identifier: Apache-2.0
#pragma once
// Placeholders in the configuration of a job that runs many times: {name} in the text of a file name.

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace spng {

/// Values of the placeholders in a run, by name.
using PlaceholderValues = std::map<std::string, std::string>;

/// Return a text with the values in place of its placeholders. Values are not searched for further ones, and names
/// without a value stay.
std::string with_values(const std::string& text, const PlaceholderValues& values);

/// Return JSON with the values in place of the placeholders in all its strings.
nlohmann::json with_values(nlohmann::json data, const PlaceholderValues& values);

} // namespace spng
