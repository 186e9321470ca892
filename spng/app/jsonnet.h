#pragma once
// Jsonnet configurations become JSON, and Jsonnet's errors our blocks.

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace spng::app {

/// One value given from outside: an argument of the top-level function or an external variable, as text or
/// code.
struct JsonnetBinding {
    enum class Kind { argument_text, argument_code, external_text, external_code };
    Kind kind;
    std::string name, value;
    bool is_argument() const { return kind == Kind::argument_text || kind == Kind::argument_code; }
};

/// Evaluate a Jsonnet file.
/// @param imports  folders that imports are searched in, in order, after the importing file's own
/// Throws Error(Configuration) with file and line, also when brackets nest deeper than max_nesting; for
/// arguments that the job does not have, names those it has.
nlohmann::json evaluate_jsonnet(const std::filesystem::path& file,
                                const std::vector<JsonnetBinding>& bindings,
                                const std::vector<std::filesystem::path>& imports);

/// Names of the arguments of a file's top-level function, in order; empty when the file is not written as
/// one.
std::vector<std::string> job_arguments(const std::filesystem::path& file);

/// Return Jsonnet text with blanks in place of comments and strings, so that only its structure remains, at
/// the same positions.
std::string jsonnet_structure(std::string text);

} // namespace spng::app
