// SPDX-License-Identifier: Apache-2.0
#pragma once
// The catalogue of component types. One declaration at namespace scope, beside the class, registers a type:
//
//     const Registration<ThresholdROIs> registration{{
//         .type = "SPNGThresholdROIs", .kind = "roi", .inputs = {"tight"}, .outputs = {"regions"},
//         .text = "regions where a channel exceeds its noise"}};

#include "spng/core/component.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace spng {

struct MemoryRule; // spng/graph/memory_rule.h

/// Whether a node may process several events at once.
enum class Concurrency { unlimited, serial };

struct ComponentType {
    std::string type; ///< registered name, "SPNGDecon"
    /// colour and category of its ranges: source, frame, decon, filter, roi, coincidence, dnn, sink,
    /// plumbing, service
    std::string kind;
    /// names of the input ports; a trailing "*" stands for `multiplicity` ports
    std::vector<std::string> inputs{};
    std::vector<std::string> outputs{};
    Concurrency concurrency = Concurrency::unlimited;
    /// A serial node that returns its only input: nodes behind it need not wait for it.
    bool is_tap = false;
    /// False: called for each event also where CUDA graphs replace calls, because its work differs from event to event. No
    /// node on a device comes behind it.
    bool is_captured = true;
    std::string text; ///< one line of meaning
    /// Tensor memory of one call. Null for services, and for nodes that the memory plan reports as not
    /// counted.
    std::shared_ptr<const MemoryRule> memory{};
    /// name of the type with the same meaning in configurations of the Wire-Cell Toolkit (WCT); empty: none, or the same
    std::string wct_name{};
};

class Registry {
public:
    struct Entry {
        ComponentType type;
        std::function<std::unique_ptr<Component>()> make;
        std::function<std::vector<FieldDescription>()> describe;
    };

    static Registry& instance();
    void add(Entry entry);
    /// Return the type with this name, or with this name in WCT; null if there is none.
    const Entry* find(const std::string& type) const;
    /// Return the names of all types, sorted, without their names in WCT.
    std::vector<std::string> types() const;
    /// Make a component of that type, named but not configured.
    /// @throws Error(Configuration) for an unknown type; names the nearest
    std::unique_ptr<Component> make(const ComponentName& name) const;

private:
    std::map<std::string, Entry> m_entries;
    std::map<std::string, std::string> m_types_by_wct_name;
};

template <class T>
struct Registration {
    explicit Registration(ComponentType type) {
        using Config = std::remove_cvref_t<decltype(std::declval<T>().config())>;
        if constexpr (requires { T::set_defaults(type); }) {
            T::set_defaults(type);
        }
        Registry::instance().add({std::move(type), [] { return std::make_unique<T>(); },
                                  [] { return describe_fields<Config>(); }});
    }
};

} // namespace spng
