// SPDX-License-Identifier: Apache-2.0
#include "spng/core/registry.h"

namespace spng {

Registry& Registry::instance() {
    static Registry registry;
    return registry;
}

void Registry::add(Entry entry) {
    const std::string type = entry.type.type;
    if (const std::string& wct_name = entry.type.wct_name; !wct_name.empty()) {
        m_types_by_wct_name.emplace(wct_name, type);
    }
    if (!m_entries.emplace(type, std::move(entry)).second) {
        throw Error(ErrorKind::Internal, {.what = "component type registered twice",
                                          .where = type,
                                          .expected = "one registration for each type"});
    }
}

const Registry::Entry* Registry::find(const std::string& type) const {
    auto found = m_entries.find(type);
    if (const auto by_wct_name = m_types_by_wct_name.find(type);
        found == m_entries.end() && by_wct_name != m_types_by_wct_name.end()) {
        found = m_entries.find(by_wct_name->second);
    }
    return found == m_entries.end() ? nullptr : &found->second;
}

std::vector<std::string> Registry::types() const {
    std::vector<std::string> names;
    for (const auto& [type, entry] : m_entries) {
        names.push_back(type);
    }
    return names;
}

std::unique_ptr<Component> Registry::make(const ComponentName& name) const {
    const Entry* entry = find(name.type);
    if (entry == nullptr) {
        throw Error(ErrorKind::Configuration, {.what = "unknown component type '" + name.type + "'",
                                               .where = name.text(),
                                               .seen = name.type,
                                               .expected = "a registered type (wire-cell --list)",
                                               .hint = suggestion(name.type, types())});
    }
    auto component = entry->make();
    component->set_name(name);
    return component;
}

} // namespace spng
