// SPDX-License-Identifier: Apache-2.0
#pragma once
// The names of the Wire-Cell Toolkit (WCT) that tests look for: tests/cfg/wct_names.json.

#include "tests/support/paths.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <string>

namespace spng::test {

/// Return the list: fields of the Jsonnet libraries, options, plugins, keys by component type, units by name.
inline const nlohmann::json& wct_name_list() {
    static const nlohmann::json names =
        nlohmann::json::parse(std::ifstream(repo_root() / "tests" / "cfg" / "wct_names.json"));
    return names;
}

/// Return the fields of a library of WCT.
inline std::set<std::string> fields_of_wct(const std::string& library) {
    return wct_name_list().at("libraries").at(library).get<std::set<std::string>>();
}

} // namespace spng::test
