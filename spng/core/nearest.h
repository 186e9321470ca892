// SPDX-License-Identifier: Apache-2.0
#pragma once
// "Did you mean ...": find the valid name that is nearest to a misspelt one.

#include <string>
#include <vector>

namespace spng {

/// Return the candidate with the smallest edit distance (insert, delete, replace, swap of neighbours; case
/// ignored), or an empty string if none is near enough to be a likely typing error.
std::string nearest_name(const std::string& seen, const std::vector<std::string>& candidates);

/// Return "did you mean 'X'?" or, if nothing is near, `otherwise`.
std::string suggestion(const std::string& seen, const std::vector<std::string>& candidates,
                       const std::string& otherwise);

/// The same with "known are: A, B, C" if nothing is near. Empty without candidates.
std::string suggestion(const std::string& seen, const std::vector<std::string>& candidates);

/// Return the words with separators in between: "A, B, C".
std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ");

} // namespace spng
