// SPDX-License-Identifier: Apache-2.0
#pragma once
// Components: the services (built once, shared) and graph nodes that a configuration names. One declaration
// registers a component type; the field list of its Config struct describes its configuration.

#include "spng/core/field.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spng {

class Environment;

/// Name of a component: "Type" or "Type:instance".
struct ComponentName {
    std::string type, instance;
    std::string text() const { return instance.empty() ? type : type + ":" + instance; }
    /// Split `text` at the first colon.
    static ComponentName from(const std::string& text);
};

class Component {
public:
    virtual ~Component() = default;

    const ComponentName& name() const { return m_name; }
    void set_name(ComponentName name) { m_name = std::move(name); }

    /// Read and check the component's own configuration.
    /// @throws Error(Configuration)
    virtual void configure(const nlohmann::json& data) = 0;

    /// Build everything that does not depend on an event: spectra, tables, models. Called once, after all
    /// components are configured and before the first event. A service is prepared before the components that
    /// use it.
    virtual void prepare(Environment&) {}

private:
    ComponentName m_name;
};

/// Base class of components whose configuration is read from a field list.
template <class Base, detail::HasFields Config>
class Configured : public Base {
public:
    void configure(const nlohmann::json& data) final {
        m_config = parse<Config>(data, this->name().text());
        configured();
    }
    const Config& config() const { return m_config; }

protected:
    /// Return "Type:instance, key `key`", for errors.
    std::string at_key(const std::string& key) const { return this->name().text() + ", key " + key; }
    /// Check conditions that involve several members. Called when all members are read.
    virtual void configured() {}
    [[noreturn]] void reject(const std::string& key, const std::string& seen, const std::string& expected,
                             const std::string& hint = {}) const {
        throw Error(ErrorKind::Configuration, {.what = "configuration values do not fit together",
                                               .where = at_key(key),
                                               .seen = seen,
                                               .expected = expected,
                                               .hint = hint});
    }

private:
    Config m_config;
};

/// A service: spectra, models, the detector. Built once, shared by nodes, const after prepare().
class Service : public Component {};

/// Base class of a service: `class FieldResponse : public ServiceWith<FieldResponseConfig>`.
template <detail::HasFields Config>
using ServiceWith = Configured<Service, Config>;

/// All components of a job, by name. Resolves the references between them.
class Environment {
public:
    /// Called with each component before its preparation. The result is destroyed after the preparation.
    using AroundPreparation = std::function<std::shared_ptr<void>(const Component&)>;

    explicit Environment(AroundPreparation around_preparation = {})
        : m_around_preparation(std::move(around_preparation)) {}

    /// Take ownership of a component.
    /// @throws Error(Configuration) if another component has this name
    void add(std::unique_ptr<Component> component);

    /// Return the component of that name; null if there is none.
    Component* find(const std::string& name) const;
    const std::vector<std::unique_ptr<Component>>& components() const { return m_components; }

    /// Return the service of that name, prepared.
    /// @param asking  the component that uses it, named in errors
    /// @throws Error(Configuration) if it is missing (names the nearest), has another type, or uses itself
    template <class T>
    const T& service(const std::string& name, const std::string& asking) {
        Component& component = prepared(name, asking);
        if (const auto* typed = dynamic_cast<const T*>(&component)) {
            return *typed;
        }
        wrong_service_type(name, asking);
    }

    /// Prepare every service that is not prepared yet, then every other component.
    void prepare_all();

    /// Prepare every service, and return the errors of those that cannot be prepared, each once.
    std::vector<Error> try_services();

private:
    Component& prepared(const std::string& name, const std::string& asking);
    void prepare(Component& component);
    [[noreturn]] void wrong_service_type(const std::string& name, const std::string& asking) const;

    enum class State { configured, preparing, prepared };
    std::vector<std::unique_ptr<Component>> m_components;
    std::map<std::string, Component*> m_by_name;
    std::map<const Component*, State> m_state;
    AroundPreparation m_around_preparation;
};

} // namespace spng
