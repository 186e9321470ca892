#pragma once
// "Did you mean ...": the nearest of the names that would have been right.

#include <string>
#include <vector>

namespace spng {

/// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours; case ignored),
/// or an empty string when none is near enough to be a likely typing error.
std::string nearest_name(const std::string& seen, const std::vector<std::string>& candidates);

/// "did you mean 'X'?" or, when nothing is near, "known are: A, B, C". Empty when there are no candidates.
std::string suggestion(const std::string& seen, const std::vector<std::string>& candidates);

/// "A, B, C"
std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ");

} // namespace spng
