// SPDX-License-Identifier: Apache-2.0
#pragma once
// Types of elements in the Open Inference Protocol, and the sizes of tensors.

#include "spng/kserve/protocol.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spng::kserve {

/// Return the bytes of an element, "FP32": 4; nothing for text (BYTES) and for unknown names.
std::optional<std::size_t> element_bytes(const std::string& datatype);

/// Return the count of elements. Nothing for a negative length, or if the product does not fit.
std::optional<std::size_t> element_count(const std::vector<std::int64_t>& shape);

/// Return "FP32 (2560, 6000)".
std::string describe(const std::string& datatype, const std::vector<std::int64_t>& shape);

/// Check that a type has numbers of one size.
/// @throws Error(Input)
void require_number_type(const std::string& datatype, const std::string& where);

/// Check the type and the shape of a tensor against the count of its bytes.
/// @param where  model and tensor, for the error
/// @throws Error(Input)
void require_bytes_of_shape(const Tensor& tensor, const std::string& where);

} // namespace spng::kserve
