// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors as lists of JSON numbers.

#include "spng/kserve/protocol.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spng::kserve {

/// Return an integer of JSON; nothing for all other values, and for one that does not fit.
std::optional<std::int64_t> integer_of(const nlohmann::json& value);

/// How the messages of others write NaN and infinities, which JSON does not have.
enum class NotFinite {
    rejected,
    accepted ///< "NaN", "Infinity", "-Infinity" as text, and null for NaN
};

/// Convert a list, flat or nested as the shape, to the bytes of the tensor's type.
/// @param where  for errors
/// @throws Error(Input) for a value that the type does not have, another count of values, and text
void read_data(const nlohmann::json& list, Tensor& tensor, NotFinite not_finite, const std::string& where);

/// Return a text that is no JSON only because of bare NaN, Infinity and -Infinity, as Python and Triton write them, with
/// quotes around these.
std::string with_quoted_values(std::string_view text);

/// Return the values of a tensor as a flat list.
/// @throws Error(Input) for NaN and infinities
nlohmann::json data_json(const Tensor& tensor, const std::string& where);

} // namespace spng::kserve
