#pragma once
// Components are what a configuration names: services (built once, shared) and graph nodes. Each is
// registered by one declaration and configured from the field list of its Config struct.

#include "spng/core/field.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spng {

class Environment;

/// How a component is called: "Type" or "Type:instance".
struct ComponentName {
    std::string type, instance;
    std::string text() const { return instance.empty() ? type : type + ":" + instance; }
    /// Splits at the first colon.
    static ComponentName from(const std::string& text);
};

class Component {
public:
    virtual ~Component() = default;

    const ComponentName& name() const { return m_name; }
    void set_name(ComponentName name) { m_name = std::move(name); }

    /// Read and check the component's own data. Throws Error(Configuration).
    virtual void configure(const nlohmann::json& data) = 0;

    /// Build everything that does not depend on an event: spectra, tables, models. Called once, after all
    /// components are configured and before the first event; services are prepared before the components that
    /// ask for them.
    virtual void prepare(Environment&) {}

private:
    ComponentName m_name;
};

/// Base with the configuration read from a field list.
template <class Base, detail::HasFields Config>
class Configured : public Base {
public:
    void configure(const nlohmann::json& data) final {
        m_config = parse<Config>(data, this->name().text());
        configured();
    }
    const Config& config() const { return m_config; }

protected:
    /// Checks that concern several members at once.
    virtual void configured() {}
    [[noreturn]] void reject(const std::string& key, const std::string& seen, const std::string& expected,
                             const std::string& hint = {}) const {
        throw Error(ErrorKind::Configuration, {.what = "configuration that does not fit together",
                                               .where = this->name().text() + ", key " + key,
                                               .seen = seen,
                                               .expected = expected,
                                               .hint = hint});
    }

private:
    Config m_config;
};

/// A service: spectra, models, the detector. Built once, shared by nodes, const after prepare().
class Service : public Component {};

/// What a service class derives from: `class FieldResponse : public ServiceWith<FieldResponseConfig>`.
template <detail::HasFields Config>
using ServiceWith = Configured<Service, Config>;

/// All components of a job, by name; resolves the references between them.
class Environment {
public:
    /// Takes ownership. Throws Error(Configuration) when the name is taken.
    void add(std::unique_ptr<Component> component);

    Component* find(const std::string& name) const;
    const std::vector<std::unique_ptr<Component>>& components() const { return m_components; }

    /// The service of that name, prepared. Throws Error(Configuration) when it is missing (naming the
    /// nearest), is of another type, or asks for itself.
    template <class T>
    const T& service(const std::string& name, const std::string& asking) {
        Component& component = prepared(name, asking);
        if (const auto* typed = dynamic_cast<const T*>(&component)) {
            return *typed;
        }
        wrong_service_type(name, asking);
    }

    /// Prepare every service that no one has asked for yet, then every other component.
    void prepare_all();

private:
    Component& prepared(const std::string& name, const std::string& asking);
    void prepare(Component& component);
    [[noreturn]] void wrong_service_type(const std::string& name, const std::string& asking) const;

    enum class State { configured, preparing, prepared };
    std::vector<std::unique_ptr<Component>> m_components;
    std::map<std::string, Component*> m_by_name;
    std::map<const Component*, State> m_state;
};

} // namespace spng
