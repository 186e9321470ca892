#pragma once
// From the name of a configuration file to the array of components.

#include "spng/app/jsonnet.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace spng::app {

struct Configuration {
    std::filesystem::path file;       ///< as found
    nlohmann::json components;        ///< what it evaluates to, unchecked
    std::vector<std::string> plugins; ///< that its "wire-cell" component asks for
};

/// Find and evaluate a configuration: Jsonnet, or JSON when the name says so (.json, .json.gz, .json.bz2
/// ...). Looked for as given, in the search path (-P, WIRECELL_PATH), and beside or in the project's own cfg
/// folder. Throws Error(Configuration).
Configuration load_configuration(const std::string& name, const std::vector<JsonnetBinding>& bindings);

} // namespace spng::app
