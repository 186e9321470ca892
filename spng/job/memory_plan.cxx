// SPDX-License-Identifier: Apache-2.0
#include "spng/job/memory_plan.h"

#include "spng/core/registry.h"
#include "spng/core/unit_text.h"
#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"
#include "spng/graph/node.h"
#include "spng/graph/parts.h"

#include <algorithm>
#include <set>

namespace spng {
namespace {

constexpr std::int64_t assumed_ticks = 6000; // if no component gives the length of the readouts

const MemoryRule* rule_of(const Component& component) {
    const Registry::Entry* entry = Registry::instance().find(component.name().type);
    return entry == nullptr ? nullptr : entry->type.memory.get();
}

/// The value of a length of the memory rules, for the first component by name that has it; else 0.
std::int64_t first_ticks(const Environment& environment,
                         std::function<std::int64_t(const Component&)> MemoryRule::*ticks) {
    const Component* first = nullptr;
    for (const auto& component : environment.components()) {
        const MemoryRule* rule = rule_of(*component);
        if (rule != nullptr && rule->*ticks &&
            (first == nullptr || component->name().text() < first->name().text())) {
            first = component.get();
        }
    }
    return first == nullptr ? 0 : (rule_of(*first)->*ticks)(*first);
}

std::int64_t sample_bytes(const Environment& environment) {
    const auto* context = dynamic_cast<const Context*>(environment.find(context_name));
    return context != nullptr && context->config().dtype == "float64" ? 8 : 4;
}

/// A walk over the graph with sizes instead of tensors.
class Walk {
public:
    Walk(const Graph& graph, const Environment& environment, std::int64_t ticks)
        : m_graph(graph), m_environment(environment), m_on_edge(graph.edges().size()), m_ticks(ticks),
          m_real(sample_bytes(environment)) {}

    MemoryPlan run() {
        for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
            call(i);
        }
        return {.event = m_ledger.at_peak(),
                .peaks_in = m_ledger.peak_node(),
                .network = m_ledger.network,
                .constants = m_ledger.constants,
                .files = m_ledger.files,
                .ticks = m_ticks,
                .unknown_types = {m_unknown.begin(), m_unknown.end()}};
    }

private:
    void call(std::size_t index) {
        const auto& vertex = m_graph.vertices()[index];
        const Node& node = *vertex.node;
        m_ledger.enter(node.name().text());
        PlannedCall planned{.ledger = m_ledger,
                            .inputs = {},
                            .outputs = vertex.output_edges.size(),
                            .real = m_real,
                            .ticks = m_ticks,
                            .environment = &m_environment,
                            .groups = groups_behind(index)};
        for (const std::size_t edge : vertex.input_edges) {
            planned.inputs.push_back(std::move(m_on_edge[edge]));
        }
        std::vector<PlannedSet> outputs = result(node, planned);
        for (std::size_t port = 0; port < vertex.output_edges.size(); ++port) {
            m_on_edge[vertex.output_edges[port]] = outputs.at(port);
        }
        if (is_shared(node)) {
            m_kept.push_back(std::move(outputs)); // until the tail has the event
        }
    }

    std::vector<PlannedSet> result(const Node& node, PlannedCall& planned) {
        const MemoryRule* rule = rule_of(node);
        const bool lacks_input = std::any_of(planned.inputs.begin(), planned.inputs.end(),
                                             [](const PlannedSet& set) { return set.empty(); });
        if (rule != nullptr && rule->call && !lacks_input) {
            return rule->call(node, planned);
        }
        m_unknown.insert(node.name().type);
        return pass_on(planned);
    }

    bool splits_frames(std::size_t index) const {
        const MemoryRule* rule = rule_of(*m_graph.vertices()[index].node);
        return rule != nullptr && rule->splits_frames;
    }

    /// PlannedCall::groups of a node.
    std::vector<PlannedTensor> groups_behind(std::size_t index) const {
        const auto& vertex = m_graph.vertices()[index];
        std::vector<PlannedTensor> groups;
        if (splits_frames(index)) {
            for (const std::size_t edge : vertex.output_edges) {
                groups.push_back(group_at(edge));
            }
        } else if (vertex.input_edges.empty()) {
            for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
                if (splits_frames(i)) {
                    const auto own = groups_behind(i);
                    groups.insert(groups.end(), own.begin(), own.end());
                }
            }
        }
        return groups;
    }

    /// The group of the first node after an edge whose configuration fixes it.
    PlannedTensor group_at(std::size_t edge) const {
        const auto& head = m_graph.vertices()[m_graph.edges()[edge].head.node];
        if (const MemoryRule* rule = rule_of(*head.node); rule != nullptr && rule->group) {
            PlannedTensor group = rule->group(*head.node);
            group.ticks = m_ticks;
            return group;
        }
        for (const std::size_t next : head.output_edges) {
            const PlannedTensor found = group_at(next);
            if (found.samples() > 0) {
                return found;
            }
        }
        return {};
    }

    const Graph& m_graph;
    const Environment& m_environment;
    MemoryLedger m_ledger; // outlives the blocks
    std::vector<PlannedSet> m_on_edge;
    std::vector<std::vector<PlannedSet>> m_kept;
    std::set<std::string> m_unknown;
    std::int64_t m_ticks = 0, m_real = 4;
};

std::string limit_text(std::int64_t bytes) {
    return bytes > 0 ? format_bytes(bytes) : "none";
}

} // namespace

MemoryPlan plan_memory(const Graph& graph, const Environment& environment) {
    const std::int64_t ticks = first_ticks(environment, &MemoryRule::readout_ticks);
    return Walk(graph, environment, ticks > 0 ? ticks : assumed_ticks).run();
}

std::optional<MemoryPlan> plan_window_memory(const Graph& graph, const Environment& environment) {
    const std::int64_t ticks = first_ticks(environment, &MemoryRule::window_ticks);
    if (ticks <= 0) {
        return std::nullopt;
    }
    return Walk(graph, environment, ticks).run();
}

MemoryChoice choose_within(const MemoryPlan& plan, std::int64_t budget, int events_in_flight, int graphs,
                           int kept_graphs) {
    MemoryChoice choice{.events_in_flight = events_in_flight, .graphs = graphs};
    if (budget <= 0) {
        return choice;
    }
    const auto reduce_to = [&](int least, int& count) {
        while (count > least && plan.total(choice.events_in_flight, choice.graphs) > budget) {
            --count;
        }
    };
    reduce_to(kept_graphs, choice.graphs);
    reduce_to(1, choice.events_in_flight);
    reduce_to(0, choice.graphs);
    const std::int64_t excess = plan.total(1) - budget;
    if (excess <= 0) {
        return choice;
    }
    const std::int64_t in_network = plan.event.at(static_cast<std::size_t>(MemoryUse::network));
    // Of the 64 bytes per sample of a forward (SPNGDNNROI), network tiles keep 20 for the padded features and
    // the joined output. With margins as wide as the network's field of view, the smallest tile of the
    // shipped network takes 28 more.
    const std::int64_t beside = plan.network * 20 / 64;
    const std::int64_t least_network = beside + plan.network * 28 / 64;
    const std::int64_t saved = in_network > 0 ? plan.network - least_network : 0;
    if (saved < excess) {
        throw Error(ErrorKind::Configuration,
                    {.what = "the memory budget is too small for one event",
                     .where = "SPNGContext, key memory_budget",
                     .seen = format_bytes(budget),
                     .expected = "at least " + format_bytes(three_digits_above(plan.total(1) - saved)) +
                                 " for " + std::to_string(plan.ticks) + " ticks",
                     .hint = "a larger budget, -A batch=false, -A model=none, or a shorter -A window="});
    }
    choice.network_budget = plan.network - excess - beside;
    return choice;
}

std::string summary(const MemoryPlan& plan, const MemoryChoice& choice) {
    return format_bytes(plan.event_peak()) + " an event x " + std::to_string(choice.events_in_flight) +
           " in flight + " +
           (choice.graphs > 0 ? format_bytes(plan.event_peak()) + " x " + std::to_string(choice.graphs) +
                                    (choice.graphs > 1 ? " CUDA graphs + " : " CUDA graph + ")
                              : "") +
           format_bytes(plan.constants) + " constants + " + format_bytes(plan.files) +
           " frames of files = " + format_bytes(plan.total(choice.events_in_flight, choice.graphs));
}

std::string to_string(const MemoryPlan& plan, const std::optional<MemoryPlan>& window,
                      const MemoryChoice& choice, std::size_t replicas, std::int64_t budget,
                      std::int64_t free) {
    const std::string not_counted =
        plan.unknown_types.empty() ? "" : "memory: not counted: " + joined(plan.unknown_types) + "\n";
    if (plan.total(1) == 0) {
        return "memory: no plan, because the configuration does not give the size of an event\n" +
               not_counted;
    }
    std::string uses;
    for (std::size_t use = 0; use < plan.event.size(); ++use) {
        if (plan.event[use] > 0) {
            uses += (uses.empty() ? "" : ", ") + std::string(name_of(static_cast<MemoryUse>(use))) + " " +
                    format_bytes(plan.event[use]);
        }
    }
    std::string text = "memory: one event of " + std::to_string(plan.ticks) + " ticks takes " +
                       format_bytes(plan.event_peak()) + " (" + uses + "; most in " + plan.peaks_in + ")\n" +
                       "memory: " + summary(plan, choice) + " of tensors on each of " +
                       std::to_string(replicas) + (replicas == 1 ? " device" : " devices") + "; budget " +
                       limit_text(budget) + ", free " + (free < 0 ? "unknown" : format_bytes(free)) + "\n";
    if (choice.network_budget > 0) {
        text += "memory: the network works in tiles of ticks, " + format_bytes(choice.network_budget) +
                " at a time\n";
    }
    if (window) {
        const std::int64_t total = window->total(choice.events_in_flight, choice.graphs);
        text += "memory: of a long readout each readout window of " + std::to_string(window->ticks) +
                " ticks is an event: " + summary(*window, choice) +
                (budget > 0 && total > budget ? ", more than the budget; a shorter -A window= takes less\n"
                                              : "\n");
    }
    return text + not_counted;
}

nlohmann::json json_of(const MemoryPlan& plan, const std::optional<MemoryPlan>& window,
                       const MemoryChoice& choice, std::size_t replicas, std::int64_t budget,
                       std::int64_t free) {
    nlohmann::json event;
    for (std::size_t use = 0; use < plan.event.size(); ++use) {
        event[std::string(name_of(static_cast<MemoryUse>(use))) + "_bytes"] = plan.event[use];
    }
    return {{"event", std::move(event)},
            {"event_bytes", plan.event_peak()},
            {"peaks_in", plan.peaks_in},
            {"constant_bytes", plan.constants},
            {"file_bytes", plan.files},
            {"ticks", plan.ticks},
            {"events_in_flight", choice.events_in_flight},
            {"cuda_graphs", choice.graphs},
            {"total_bytes", plan.total(choice.events_in_flight, choice.graphs)},
            {"window_ticks", window ? nlohmann::json(window->ticks) : nlohmann::json(nullptr)},
            {"window_event_bytes", window ? nlohmann::json(window->event_peak()) : nlohmann::json(nullptr)},
            {"replicas", replicas},
            {"budget_bytes", budget > 0 ? nlohmann::json(budget) : nlohmann::json(nullptr)},
            {"free_bytes", free < 0 ? nlohmann::json(nullptr) : nlohmann::json(free)},
            {"network_budget_bytes",
             choice.network_budget > 0 ? nlohmann::json(choice.network_budget) : nlohmann::json(nullptr)},
            {"not_counted", plan.unknown_types}};
}

} // namespace spng
