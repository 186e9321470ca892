// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mutations of JSON documents.

#include "tests/fuzz/driver/random.h"

#include <string>
#include <vector>

namespace spng::fuzz {

/// Change values, keys and lists of a seed that is JSON, plain or compressed; the result is JSON, seldom compressed.
std::string mutate_document(const std::vector<std::string>& seeds, Random& random);

} // namespace spng::fuzz
