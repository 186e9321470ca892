// SPDX-License-Identifier: Apache-2.0
#include "spng/core/component.h"

#include <algorithm>

namespace spng {

ComponentName ComponentName::from(const std::string& text) {
    const auto colon = text.find(':');
    return colon == std::string::npos ? ComponentName{text, ""}
                                      : ComponentName{text.substr(0, colon), text.substr(colon + 1)};
}

void Environment::add(std::unique_ptr<Component> component) {
    const std::string name = component->name().text();
    if (!m_by_name.emplace(name, component.get()).second) {
        throw Error(ErrorKind::Configuration, {.what = "two components are called '" + name + "'",
                                               .where = name,
                                               .seen = "the name twice",
                                               .expected = "one component of each name",
                                               .hint = "give one of them another instance name"});
    }
    m_state[component.get()] = State::configured;
    m_components.push_back(std::move(component));
}

Component* Environment::find(const std::string& name) const {
    const auto found = m_by_name.find(name);
    return found == m_by_name.end() ? nullptr : found->second;
}

Component& Environment::prepared(const std::string& name, const std::string& asking) {
    Component* component = find(name);
    if (component == nullptr) {
        std::vector<std::string> names;
        for (const auto& [known, unused] : m_by_name) {
            names.push_back(known);
        }
        throw Error(ErrorKind::Configuration,
                    {.what = "reference to a component that is not configured",
                     .where = asking,
                     .seen = "'" + name + "'",
                     .expected = "the name of a configured component, Type:instance",
                     .hint = suggestion(name, names, "add it to the configuration (in Jsonnet: to `uses`)")});
    }
    prepare(*component);
    return *component;
}

void Environment::prepare(Component& component) {
    State& state = m_state.at(&component);
    if (state == State::prepared) {
        return;
    }
    if (state == State::preparing) {
        throw Error(ErrorKind::Configuration, {.what = "circular reference between components",
                                               .where = component.name().text(),
                                               .seen = "a component that refers back to itself",
                                               .expected = "references without a cycle",
                                               .hint = "remove one of the references"});
    }
    state = State::preparing;
    const auto scope = m_around_preparation ? m_around_preparation(component) : nullptr;
    try {
        component.prepare(*this);
    } catch (Error& error) {
        if (error.text().where.find(component.name().text()) == std::string::npos) {
            error.add_where(component.name().text());
        }
        state = State::configured;
        throw;
    } catch (...) {
        state = State::configured;
        throw;
    }
    state = State::prepared;
}

std::vector<Error> Environment::try_services() {
    std::vector<Error> errors;
    for (const auto& component : m_components) {
        if (dynamic_cast<Service*>(component.get()) == nullptr) {
            continue;
        }
        try {
            prepare(*component);
        } catch (const Error& error) {
            // Services that use a failed one fail for the same reason.
            const bool is_known = std::any_of(errors.begin(), errors.end(), [&](const Error& other) {
                return other.text().what == error.text().what && other.text().seen == error.text().seen;
            });
            if (!is_known) {
                errors.push_back(error);
            }
        }
    }
    return errors;
}

void Environment::prepare_all() {
    for (const bool services : {true, false}) {
        for (const auto& component : m_components) {
            if ((dynamic_cast<Service*>(component.get()) != nullptr) == services) {
                prepare(*component);
            }
        }
    }
}

void Environment::wrong_service_type(const std::string& name, const std::string& asking) const {
    throw Error(ErrorKind::Configuration,
                {.what = "reference to a component of another type",
                 .where = asking,
                 .seen = "'" + name + "'",
                 .expected = "a component of a type that this key accepts",
                 .hint = "see `wire-cell --describe " + ComponentName::from(asking).type + "`"});
}

} // namespace spng
