// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mutations that know nothing of the format.

#include "tests/fuzz/driver/random.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spng::fuzz {

inline constexpr std::size_t max_input_bytes = std::size_t{1} << 18;

/// Apply one to eight random changes: bits, bytes, integers at the limits of their types, copied, moved and erased
/// blocks, words, parts of another seed.
std::string mutate_bytes(std::string bytes, const std::vector<std::string>& seeds,
                         std::span<const std::string_view> words, Random& random);

/// Return the first `part` of 64 parts.
std::string cut(const std::string& bytes, std::size_t part);

std::string with_flipped_bit(std::string bytes, std::size_t bit);

} // namespace spng::fuzz
