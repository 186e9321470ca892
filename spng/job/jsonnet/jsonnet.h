// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluate Jsonnet configurations to JSON, with errors as Error.

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace spng {

/// A value from outside: an argument of the top-level function or an external variable, as text or code.
struct JsonnetBinding {
    enum class Kind { argument_text, argument_code, external_text, external_code };
    Kind kind;
    std::string name, value;
    bool is_argument() const { return kind == Kind::argument_text || kind == Kind::argument_code; }
};

/// A question that a configuration asks the program: std.native('NAME')(text) is true or false. Elsewhere, as in the
/// jsonnet command, std.native('NAME') is null.
struct JsonnetQuestion {
    std::string name;
    /// The same text gets the same answer during an evaluation. Called on another thread; its exceptions are errors of
    /// the configuration.
    std::function<bool(const std::string&)> answer;
};

/// Evaluate a Jsonnet file.
/// @param imports    search path of imports, after the folder of the importing file
/// @param questions  that the file may ask
/// @throws Error(Configuration) with file and line, also if brackets nest deeper than max_nesting; for unknown
/// arguments with the known ones
nlohmann::json evaluate_jsonnet(const std::filesystem::path& file,
                                const std::vector<JsonnetBinding>& bindings,
                                const std::vector<std::filesystem::path>& imports,
                                const std::vector<JsonnetQuestion>& questions = {});

/// Tell whether the text of a file is a function: it has one after its local definitions and assertions. A text without it
/// may still evaluate to a function.
bool is_surely_function(const std::string& code);

/// Return the names of the arguments of a file's top-level function, in order; empty if the file is not a
/// function.
std::vector<std::string> job_arguments(const std::filesystem::path& file);

/// Describe these arguments as a table in Markdown: name, default, and the comment in the lines above.
std::string describe_arguments(const std::filesystem::path& file);

/// Return the defaults of these arguments by name, without those that have none. A default that is no
/// literal is its code, as a string.
nlohmann::json default_arguments(const std::filesystem::path& file);

/// Return Jsonnet text with blanks in place of comments and strings, so that only its structure remains, at
/// the same positions.
std::string jsonnet_structure(std::string text);

/// Return the text without blanks and ends of lines around it.
std::string trimmed(const std::string& text);

} // namespace spng
