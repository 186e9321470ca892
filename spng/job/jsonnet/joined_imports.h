// SPDX-License-Identifier: Apache-2.0
#pragma once
// libjsonnet parses and checks its standard library for each imported file, 15 to 25 ms each: half of the evaluation of the main
// job. In one text it does so once (docs/decisions/start-up.md).

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Question of the text, with an answer of true, before it imports a file by its path.
inline constexpr const char* reads_file_question = "spng_reads_file";

/// Return one text with the meaning of a configuration and the files that it imports, which are local variables of it. Files that
/// would mean something else there are imported by their absolute paths.
/// @param file     of the code, in whose folder its imports are searched first
/// @param folders  search path of imports
/// @return nothing without imports, and if the text may differ in meaning. If it does not evaluate, the configuration may still,
///         because Jsonnet reads a file only when its value is needed; errors in it have other positions
std::optional<std::string> with_joined_imports(const std::filesystem::path& file, const std::string& code,
                                               const std::vector<std::filesystem::path>& folders);

} // namespace spng
