// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of the Wire-Cell Toolkit (WCT) that have no equal here, for errors that tell what to do instead. Names with the
// same meaning are declared with the type (ComponentType::wct_name) and the key (Field::or_wct()).

#include "spng/core/component.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace spng {

/// Return what to use instead of a component type of WCT; empty for other names.
std::string instead_of_wct_type(const std::string& type);

/// Return what to use instead of a plugin of WCT; empty for other names.
std::string instead_of_wct_plugin(const std::string& plugin);

/// Return the keys that the type of this name has in WCT but not here, or not with the same meaning.
/// @param type  registered name, or an engine
std::vector<std::string> wct_keys_without_equal(const std::string& type);

/// Throw Error(Configuration) if the data contain such a key, or a value that has another meaning in WCT.
/// @param where  component, named in the error
/// @param type   registered name, or an engine
/// @param known  keys of the type
void reject_wct_keys(const std::string& where, const std::string& type, const nlohmann::json& data,
                     const std::vector<std::string>& known);

} // namespace spng
