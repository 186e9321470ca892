// SPDX-License-Identifier: Apache-2.0
#include "spng/job/key_changes.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/core/registry.h"
#include "spng/io/json_file.h"

#include <set>

namespace spng {
namespace {

[[noreturn]] void reject(const std::string& what, const std::string& change, const std::string& expected,
                         const std::string& hint) {
    throw Error(ErrorKind::Usage,
                {.what = what, .where = "--set", .seen = change, .expected = expected, .hint = hint});
}

nlohmann::json value_of(const std::string& text) {
    nlohmann::json value = parsed_json(text);
    return value.is_discarded() ? nlohmann::json(text) : value;
}

/// Return the type's own name, for the name of a type in WCT.
std::string own_type(const std::string& type) {
    const auto* const found = Registry::instance().find(type);
    return found == nullptr ? type : found->type.type;
}

ComponentName name_of(const nlohmann::json& component) {
    const auto text = [&](const char* key) {
        const auto found = component.find(key);
        return found != component.end() && found->is_string() ? found->get<std::string>() : std::string{};
    };
    return {own_type(text("type")), text("name")};
}

void change_key(nlohmann::json& components, const std::string& change) {
    const auto equals = change.find('=');
    const auto dot = change.rfind('.', equals); // instances may have dots in their names, keys have none
    if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == equals) {
        reject("a key to set cannot be read", change, "TYPE.KEY=VALUE or TYPE:INSTANCE.KEY=VALUE",
               "wire-cell --describe TYPE lists the keys");
    }
    ComponentName target = ComponentName::from(change.substr(0, dot));
    target.type = own_type(target.type);
    const bool is_one = change.find(':') < dot;
    std::set<std::string> types, instances;
    bool is_found = false;
    for (auto& component : components) {
        if (!component.is_object()) {
            continue;
        }
        const ComponentName name = name_of(component);
        types.insert(name.type);
        if (name.type == target.type) {
            instances.insert(name.text());
            if (!is_one || name.instance == target.instance) {
                auto& data = component["data"];
                if (data.is_object() || data.is_null()) { // Job reports other data
                    data[change.substr(dot + 1, equals - dot - 1)] = value_of(change.substr(equals + 1));
                }
                is_found = true;
            }
        }
    }
    if (!is_found) {
        const std::set<std::string>& names = instances.empty() ? types : instances;
        const std::vector<std::string> known(names.begin(), names.end());
        reject("the job has no component " + (instances.empty() ? target.type : target.text()), change,
               "one of: " + joined(known),
               suggestion(instances.empty() ? target.type : target.text(), known, ""));
    }
}

} // namespace

void change_keys(nlohmann::json& components, const std::vector<std::string>& changes) {
    for (const auto& change : changes) {
        if (components.is_array()) {
            change_key(components, change);
        }
    }
}

} // namespace spng
