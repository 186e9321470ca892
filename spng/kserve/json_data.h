// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors as lists of JSON numbers.

#include "spng/kserve/protocol.h"

#include <nlohmann/json.hpp>

#include <string>

namespace spng::kserve {

/// Convert a list, flat or nested as the shape, to the bytes of the tensor's type.
/// @param where  for errors
/// @throws Error(Input) for a value that the type does not have, another count of values, and text
void read_data(const nlohmann::json& list, Tensor& tensor, const std::string& where);

/// Return the values of a tensor as a flat list. NaN and infinities, which JSON does not have, become null.
nlohmann::json data_json(const Tensor& tensor);

} // namespace spng::kserve
