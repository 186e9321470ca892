// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reference of the registered component types and their configuration, from their declarations.

#include "spng/core/registry.h"

#include <nlohmann/json.hpp>

#include <string>

namespace spng::app {

/// List the types, one line each, grouped by kind.
std::string list_types(const Registry& registry);

/// Describe meaning, ports and configuration of a type as text; of "all" types in Markdown.
/// @throws Error(Usage) for an unknown type, naming the nearest
std::string describe_type(const Registry& registry, const std::string& type);

/// Return the JSON schema (draft 2020-12) of a type's configuration; for "all" an object of the schemas by type.
/// @throws Error(Usage) for an unknown type
nlohmann::json schema_of_type(const Registry& registry, const std::string& type);

} // namespace spng::app
