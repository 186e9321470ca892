// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory rule of a component type: the tensors that one call makes and needs, by size. A rule is a function
// beside its node and an optional member of the node's registration:
//
//     std::vector<PlannedSet> plan_memory(const ClipConfig& config, PlannedCall& call);
//     const Registration<Clip> registration{{.type = "SPNGClip", ...
//                                            .memory = memory_rule<Clip>({.call = plan_memory})}};
//
// The memory plan (spng/job/memory_plan.h) lists node types without a rule as not counted.

#include "spng/core/component.h"
#include "spng/graph/memory_ledger.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace spng {

/// Sizes of a tensor (view, channel, tick) and the memory that holds it.
struct PlannedTensor {
    std::int64_t views = 0, channels = 0, ticks = 0;
    MemoryBlockPtr block{};
    std::int64_t samples() const { return views * channels * ticks; }
};
using PlannedSet = std::vector<PlannedTensor>;

/// One planned call of a node.
struct PlannedCall {
    MemoryLedger& ledger;
    std::vector<PlannedSet> inputs; ///< by input port; none is empty
    std::size_t outputs = 0;        ///< number of output ports
    std::int64_t real = 4;          ///< bytes of a sample: 4 or 8
    std::int64_t ticks = 0;         ///< of the readout
    /// The configured components, not prepared; not null.
    const Environment* environment = nullptr;
    /// Groups of views into which the frame is split, without memory. A node that splits frames gets its own
    /// groups, by output port; a source gets those of all such nodes. Empty for other nodes.
    std::vector<PlannedTensor> groups{};

    /// @return a new tensor of the shape of `like`
    PlannedTensor make(PlannedTensor like, MemoryUse use, std::int64_t bytes_per_sample) const;

    /// @return memory that counts while the returned block lives
    MemoryBlockPtr scratch(MemoryUse use, std::int64_t bytes) const;

    /// Count memory that lives as long as the job, such as kernels and tables.
    void keep(std::int64_t bytes) const { ledger.constants += bytes; }

    /// Count frames on the host that are read ahead or written behind the computation.
    void stage(const PlannedSet& frame, int count = 1) const;
};

/// Plan a packed mask of the shape of `like`.
PlannedTensor planned_mask(const PlannedCall& call, PlannedTensor like);

/// Type-erased rule, made by memory_rule(). Members that do not apply are empty.
struct MemoryRule {
    std::function<std::vector<PlannedSet>(const Component&, PlannedCall&)> call;
    std::function<PlannedTensor(const Component&)> group;
    std::function<std::int64_t(const Component&)> readout_ticks;
    std::function<std::int64_t(const Component&)> window_ticks;
    bool splits_frames = false;
};

/// The rule of component class `T`, whose functions get the parsed configuration.
template <class T>
struct MemoryRuleOf {
    using Config = std::remove_cvref_t<decltype(std::declval<const T>().config())>;

    /// Output sets of one call, by output port.
    std::vector<PlannedSet> (*call)(const Config&, PlannedCall&) = nullptr;
    /// Views and channels of the input, for nodes whose configuration fixes them; ticks are ignored.
    PlannedTensor (*group)(const Config&) = nullptr;
    /// Length of the readouts [ticks] that the component is configured for.
    std::int64_t (*readout_ticks)(const Config&) = nullptr;
    /// Length of one readout window [ticks] of a source that cuts long readouts; 0 where it cuts none.
    std::int64_t (*window_ticks)(const Config&) = nullptr;
    /// True for a node that splits frames into groups, one at each output port.
    bool splits_frames = false;
};

namespace detail {

template <class T, class Result, class... Rest>
std::function<Result(const Component&, Rest...)>
with_config_of(Result (*function)(const typename MemoryRuleOf<T>::Config&, Rest...)) {
    if (function == nullptr) {
        return {};
    }
    return [function](const Component& component, Rest... rest) {
        return function(static_cast<const T&>(component).config(), rest...);
    };
}

} // namespace detail

/// Make the `.memory` member of the registration of `T`.
template <class T>
std::shared_ptr<const MemoryRule> memory_rule(const MemoryRuleOf<T>& rule) {
    return std::make_shared<const MemoryRule>(MemoryRule{
        .call = detail::with_config_of<T>(rule.call),
        .group = detail::with_config_of<T>(rule.group),
        .readout_ticks = detail::with_config_of<T>(rule.readout_ticks),
        .window_ticks = detail::with_config_of<T>(rule.window_ticks),
        .splits_frames = rule.splits_frames,
    });
}

/// The tensors of all inputs in one set, at every output port.
std::vector<PlannedSet> pass_on(const PlannedCall& call);

/// Make the rule of a node that passes its inputs on and needs no memory of its own.
std::shared_ptr<const MemoryRule> passing_memory_rule();

} // namespace spng
