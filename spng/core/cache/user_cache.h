// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results that take time and follow from files, kept in the user's cache for later processes. A cache never changes a result:
// entries that are missing, damaged, or of another key or build of the program count as absent, and an entry that cannot be written is left out,
// each with a debug line.
//
// The folder is that of the variable SPNG_CACHE, else $XDG_CACHE_HOME/spng, else ~/.cache/spng. SPNG_CACHE=off: no cache.

#include <optional>
#include <string>
#include <string_view>

namespace spng {

/// Return what was kept.
/// @param kind  of result, a word of letters: the beginning of the file's name
/// @param key   SHA-256, as digits, of all that the result depends on, with the versions of programs
std::optional<std::string> find_in_cache(const std::string& kind, const std::string& key);

/// Keep a result, in place of any other of this kind and key. Several processes may do so at once. Of each kind the 64 newest stay.
void keep_in_cache(const std::string& kind, const std::string& key, std::string_view content);

} // namespace spng
