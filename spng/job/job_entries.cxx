// SPDX-License-Identifier: Apache-2.0
#include "spng/job/job_entries.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/core/registry.h"
#include "spng/job/wct_names.h"

#include <algorithm>

namespace spng {
namespace {

const std::vector<std::string> engine_types{"Pgrapher", "TbbFlow"};

const nlohmann::json& no_data() {
    static const nlohmann::json empty = nlohmann::json::object();
    return empty;
}

/// Engines are not registered components, but suggestions include them.
[[noreturn]] void reject_type(const ComponentName& name) {
    auto types = Registry::instance().types();
    types.insert(types.end(), engine_types.begin(), engine_types.end());
    const std::string instead = instead_of_wct_type(name.type);
    throw Error(
        ErrorKind::Configuration,
        {.what = instead.empty() ? "unknown component type '" + name.type + "'"
                                 : "component type '" + name.type +
                                       "' of the Wire-Cell Toolkit (WCT) does not exist here",
         .where = name.text(),
         .seen = name.type,
         .expected = "a registered type (wire-cell --list), or an engine: " + joined(engine_types, ", "),
         .hint = instead.empty() ? suggestion(name.type, types) : instead});
}

std::vector<std::string> names_of(const std::vector<FieldDescription>& fields) {
    std::vector<std::string> names;
    for (const auto& field : fields) {
        names.push_back(field.name);
    }
    return names;
}

} // namespace

void name_source(Error& error, const std::string& source) {
    if (error.text().where.find(source) == std::string::npos) {
        error.add_where(source);
    }
}

JobEntry read_entry(const nlohmann::json& item, std::size_t index, const std::string& source) {
    const std::string where = source + ", component " + std::to_string(index);
    detail::require_object(where, item);
    for (const auto& [key, value] : item.items()) {
        // pgraph.jsonnet of the Wire-Cell Toolkit adds _pnode, the counts of ports, for programs that draw graphs.
        if (key != "type" && key != "name" && key != "data" && key != "_pnode") {
            detail::unknown_key(where, key, {"type", "name", "data"});
        }
    }
    const auto text = [&](const char* key) {
        const auto found = item.find(key);
        if (found == item.end()) {
            return std::string{};
        }
        if (!found->is_string()) {
            detail::wrong_type(where + ", key " + key, *found, "string");
        }
        return found->get<std::string>();
    };
    JobEntry entry{{text("type"), text("name")}, &no_data()};
    if (entry.name.type.empty()) {
        detail::missing_key(where, "type", "the registered type of the component");
    }
    if (const auto data = item.find("data"); data != item.end() && !data->is_null()) {
        entry.data = &*data;
    }
    return entry;
}

bool is_engine(const JobEntry& entry) {
    return std::find(engine_types.begin(), engine_types.end(), entry.name.type) != engine_types.end();
}

bool is_component(const JobEntry& entry) {
    return !is_engine(entry) && entry.name.type != "wire-cell";
}

std::unique_ptr<Component> make_component(const JobEntry& entry) {
    const Registry::Entry* known = Registry::instance().find(entry.name.type);
    if (known == nullptr) {
        reject_type(entry.name);
    }
    reject_wct_keys(entry.name.text(), known->type.type, *entry.data, names_of(known->describe()));
    auto component = Registry::instance().make(entry.name);
    component->configure(*entry.data);
    return component;
}

EngineConfig read_engine(const JobEntry& entry, const std::string& source) {
    const std::string where = entry.name.text() + " (" + source + ")";
    reject_wct_keys(where, entry.name.type, *entry.data, names_of(describe_fields<EngineConfig>()));
    return parse<EngineConfig>(*entry.data, where);
}

std::string choose_engine(const std::vector<JobEntry>& engines, const std::string& requested,
                          const std::string& source) {
    if (engines.size() > 1) {
        throw Error(ErrorKind::Configuration, {.what = "the configuration has several graphs",
                                               .where = source,
                                               .seen = std::to_string(engines.size()) +
                                                       " components of type " + joined(engine_types, " or "),
                                               .expected = "one",
                                               .hint = "keep one; --app chooses the engine that runs it"});
    }
    if (!requested.empty() && std::find(engine_types.begin(), engine_types.end(),
                                        ComponentName::from(requested).type) == engine_types.end()) {
        throw Error(ErrorKind::Configuration, {.what = "unknown application '" + requested + "'",
                                               .where = source,
                                               .seen = requested,
                                               .expected = joined(engine_types, " or "),
                                               .hint = suggestion(requested, engine_types)});
    }
    if (engines.empty()) {
        throw Error(ErrorKind::Configuration, {.what = "the configuration has no graph to run",
                                               .where = source,
                                               .seen = "no component of type " + joined(engine_types, " or "),
                                               .expected = "one, with the edges",
                                               .hint = "end the configuration with pgraph's main(graph)"});
    }
    return requested.empty() ? engines.front().name.type : ComponentName::from(requested).type;
}

} // namespace spng
