// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entries of a configuration: the components and engines of a job, as {type, name, data}.

#include "spng/core/component.h"
#include "spng/engine/engine.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace spng {

/// Add the file to a configuration error that does not name it yet.
void name_source(Error& error, const std::string& source);

/// One {type, name, data} of the configuration's array.
struct JobEntry {
    ComponentName name;
    const nlohmann::json* data; ///< of the configuration, or an empty object
};

/// Read the entry at `index` of the array.
/// @param source  the configuration file, named in errors
/// @throws Error(Configuration) for unknown keys, values that are not text, and a missing type
JobEntry read_entry(const nlohmann::json& item, std::size_t index, const std::string& source);

/// Whether the entry is an engine, which holds the edges of the graph.
bool is_engine(const JobEntry& entry);

/// Whether the entry is a component of the registry. The command line handles "wire-cell" (plugins).
bool is_component(const JobEntry& entry);

/// Make and configure the component.
/// @throws Error(Configuration) for an unknown type, and for data that do not fit it
std::unique_ptr<Component> make_component(const JobEntry& entry);

/// Read the data of an engine.
/// @throws Error(Configuration)
EngineConfig read_engine(const JobEntry& entry, const std::string& source);

/// Return the type of the engine to use: the requested one, else the only one of the configuration.
/// @throws Error(Configuration) if the requested type is not an engine, or the number of engines is not one
std::string choose_engine(const std::vector<JobEntry>& engines, const std::string& requested,
                          const std::string& source);

} // namespace spng
