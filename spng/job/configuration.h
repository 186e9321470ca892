// SPDX-License-Identifier: Apache-2.0
#pragma once
// Load a configuration: from the name of the file to the array of components.

#include "spng/job/jsonnet/jsonnet.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace spng {

struct Configuration {
    std::filesystem::path file;       ///< as found
    nlohmann::json components;        ///< the value of the file, with change_keys(), not validated
    std::vector<std::string> plugins; ///< of its "wire-cell" component
    nlohmann::json defaults = nlohmann::json::object(); ///< see default_arguments(); empty for plain JSON
};

/// Find the file of a configuration, as load_configuration() does.
/// @throws Error(Configuration)
std::filesystem::path find_configuration(const std::string& name);

/// Find and evaluate a configuration: JSON if the name ends so (.json, .json.gz, .json.bz2, ...), else Jsonnet.
/// The file is searched as given, in the search path (-P, WIRECELL_PATH), and beside or in the project's own cfg
/// folder.
/// @param questions  that Jsonnet may ask
/// @throws Error(Configuration)
Configuration load_configuration(const std::string& name, const std::vector<JsonnetBinding>& bindings,
                                 const std::vector<JsonnetQuestion>& questions);

} // namespace spng
