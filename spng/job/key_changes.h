// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keys of components that the command line changes in an evaluated configuration: --set TYPE:INSTANCE.KEY=VALUE.

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace spng {

/// Set keys of components. Components check the keys and their values when they are configured.
/// @param components  of the configuration; what is not an array of components stays, and Job reports it
/// @param changes     "TYPE:INSTANCE.KEY=VALUE", or "TYPE.KEY=VALUE" for all components of the type, in order. TYPE may be a
///                    name of WCT. VALUE is JSON, or else a string.
/// @throws Error(Usage) for another form, and for a component that the configuration lacks, naming the nearest
void change_keys(nlohmann::json& components, const std::vector<std::string>& changes);

} // namespace spng
