#pragma once
// What the registered component types are and how they are configured, from their declarations.

#include "spng/core/registry.h"

#include <nlohmann/json.hpp>

#include <string>

namespace spng::app {

/// One line for each type, grouped by kind.
std::string list_types(const Registry& registry);

/// Meaning, ports and configuration of a type as text; for "all" the reference of all types in Markdown.
/// Throws Error(Usage) for an unknown type, naming the nearest.
std::string describe_type(const Registry& registry, const std::string& type);

/// JSON schema (draft 2020-12) of a type's configuration; for "all" an object of the schemas by type.
/// Throws Error(Usage) for an unknown type.
nlohmann::json schema_of_type(const Registry& registry, const std::string& type);

} // namespace spng::app
