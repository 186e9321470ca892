#include "spng/engine/memory_plan.h"

#include "spng/core/nearest.h"
#include "spng/core/unit_text.h"
#include "spng/engine/memory_rules.h"
#include "spng/engine/replicas.h"
#include "spng/graph/node.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace spng {
namespace {

constexpr std::int64_t assumed_ticks = 6000;     // where no response says
constexpr std::int64_t table_bytes = 22'000'000; // filters, crossings, weights; measured for ProtoDUNE-HD

/// Data of the components, by name; refers to the configuration.
class Components {
public:
    explicit Components(const nlohmann::json& components) {
        for (const auto& component : components) {
            const std::string type = component.value("type", "");
            const std::string name = component.value("name", "");
            m_data[name.empty() ? type : type + ":" + name] =
                component.contains("data") ? &component["data"] : &none;
        }
    }
    const nlohmann::json& operator[](const std::string& name) const {
        const auto found = m_data.find(name);
        return found == m_data.end() ? none : *found->second;
    }
    /// The first value of a key among components of a type.
    nlohmann::json first(const std::string& type, const char* key) const {
        for (const auto& [name, data] : m_data) {
            if (name.compare(0, type.size(), type) == 0 && data->contains(key)) {
                return (*data)[key];
            }
        }
        return nullptr;
    }

private:
    static inline const nlohmann::json none = nlohmann::json::object();
    std::map<std::string, const nlohmann::json*> m_data;
};

/// A walk over the graph, sizes instead of tensors.
class Walk {
public:
    Walk(const Graph& graph, const Components& components, std::int64_t ticks)
        : m_graph(graph), m_components(components), m_on_edge(graph.edges().size()), m_ticks(ticks) {
        m_real = m_components.first("SPNGContext", "dtype") == "float64" ? 8 : 4;
    }

    MemoryPlan run() {
        for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
            call(i);
        }
        m_plan.event = m_ledger.at_peak();
        m_plan.peaks_in = m_ledger.peak_place();
        m_plan.ticks = m_ticks;
        m_plan.unknown_types.assign(m_unknown.begin(), m_unknown.end());
        return m_plan;
    }

private:
    void call(std::size_t number) {
        const auto& vertex = m_graph.vertices()[number];
        const Node& node = *vertex.node;
        m_ledger.enter(node.name().text());
        PlannedCall planned{.ledger = m_ledger,
                            .data = m_components[node.name().text()],
                            .inputs = {},
                            .outputs = vertex.output_edges.size(),
                            .real = m_real,
                            .ticks = m_ticks,
                            .groups = groups_behind(number)};
        for (const std::size_t edge : vertex.input_edges) {
            planned.inputs.push_back(std::move(m_on_edge[edge]));
        }
        count_constants(node, planned);
        if (vertex.output_edges.empty() && node.name().type == "FrameFileSink") {
            count_file(planned.inputs);
        }
        std::vector<PlannedSet> outputs = result(node, planned);
        if (vertex.input_edges.empty()) {
            count_file(outputs);
        }
        for (std::size_t port = 0; port < vertex.output_edges.size(); ++port) {
            m_on_edge[vertex.output_edges[port]] = outputs.at(port);
        }
        if (is_shared(node)) {
            m_kept.push_back(std::move(outputs)); // until the event is complete (EventRun)
        }
    }

    std::vector<PlannedSet> result(const Node& node, PlannedCall& planned) {
        const auto rule = memory_rules().find(node.name().type);
        const bool lacks_input = std::any_of(planned.inputs.begin(), planned.inputs.end(),
                                             [](const PlannedSet& set) { return set.empty(); });
        if (rule != memory_rules().end() && !lacks_input) {
            return rule->second(planned);
        }
        m_unknown.insert(node.name().type);
        return pass_on(planned);
    }

    /// Files are read and written beside the computation.
    void count_file(const std::vector<PlannedSet>& frames) {
        for (const auto& set : frames) {
            for (const auto& tensor : set) {
                m_plan.files += tensor.block->bytes();
            }
        }
    }

    /// Kernels of deconvolution, tables of an anode, and what a forward takes.
    void count_constants(const Node& node, const PlannedCall& planned) {
        if (planned.inputs.empty() || planned.inputs.front().empty()) {
            return;
        }
        const PlannedTensor& tensor = planned.inputs.front().front();
        if (node.name().type == "SPNGDecon") {
            const bool padded = planned.data.value("pad_wire_domain", false);
            m_plan.constants += tensor.views * planned_channels(tensor.channels, padded) *
                                planned_frequencies(m_ticks) * 2 * m_real;
        }
        if (node.name().type == "SPNGFrameToTorchSetFanout") {
            m_plan.constants += table_bytes;
        }
        if (node.name().type == "SPNGDNNROI") {
            m_plan.network = std::max(m_plan.network, forward_bytes(tensor.samples()));
        }
    }

    /// What splits the frame: one tensor per output, its channels those of the deconvolution behind it. In
    /// front of it (sources), all groups of all that split.
    std::vector<PlannedTensor> groups_behind(std::size_t number) const {
        const auto& vertex = m_graph.vertices()[number];
        std::vector<PlannedTensor> groups;
        if (vertex.node->name().type == "SPNGFrameToTorchSetFanout") {
            for (const std::size_t edge : vertex.output_edges) {
                groups.push_back(group_at(edge));
            }
        } else if (vertex.input_edges.empty()) {
            for (std::size_t i = 0; i < m_graph.vertices().size(); ++i) {
                if (m_graph.vertices()[i].node->name().type == "SPNGFrameToTorchSetFanout") {
                    const auto own = groups_behind(i);
                    groups.insert(groups.end(), own.begin(), own.end());
                }
            }
        }
        return groups;
    }

    /// By the first deconvolution behind an edge.
    PlannedTensor group_at(std::size_t edge) const {
        const auto& head = m_graph.vertices()[m_graph.edges()[edge].head.node];
        if (head.node->name().type == "SPNGDecon") {
            const auto& data = m_components[head.node->name().text()];
            const auto views = data.contains("frer_spectrum") ? data["frer_spectrum"].size() : 1;
            return {static_cast<std::int64_t>(views), data.value("channels", std::int64_t{0}), m_ticks,
                    nullptr};
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
    const Components& m_components;
    MemoryPlan m_plan;
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

const char* name_of(MemoryUse use) {
    static constexpr std::array names{"input", "spectra", "images", "masks", "network"};
    return names.at(static_cast<std::size_t>(use));
}

std::int64_t sum_of(const MemoryByUse& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

MemoryPlan plan_memory(const Graph& graph, const nlohmann::json& components) {
    const Components data(components);
    const auto ticks = data.first("TorchFRERSpectrum", "default_nticks");
    return Walk(graph, data, ticks.is_number() ? ticks.get<std::int64_t>() : assumed_ticks).run();
}

std::optional<MemoryPlan> plan_window_memory(const Graph& graph, const nlohmann::json& components) {
    const Components data(components);
    const auto window = data.first("FrameFileSource", "window");
    const auto part = [&](const char* key) {
        return window.is_object() ? window.value(key, std::int64_t{0}) : std::int64_t{0};
    };
    if (part("core") <= 0) {
        return std::nullopt;
    }
    return Walk(graph, data, part("before") + part("core") + part("after")).run();
}

MemoryChoice choose_within(const MemoryPlan& plan, std::int64_t budget, int events_in_flight) {
    MemoryChoice choice{events_in_flight, 0};
    if (budget <= 0) {
        return choice;
    }
    while (choice.events_in_flight > 1 && plan.total(choice.events_in_flight) > budget) {
        --choice.events_in_flight;
    }
    const std::int64_t excess = plan.total(1) - budget;
    if (excess <= 0) {
        return choice;
    }
    const std::int64_t in_network = plan.event.at(static_cast<std::size_t>(MemoryUse::network));
    // Windows need the padded features and the joined output beside them, 20 of 64 bytes a sample; and
    // margins as wide as the network sees, with which the smallest window of the shipped one takes 28 bytes
    // of 64.
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
           " in flight + " + format_bytes(plan.constants) + " constants + " + format_bytes(plan.files) +
           " frames of files = " + format_bytes(plan.total(choice.events_in_flight));
}

std::string to_string(const MemoryPlan& plan, const std::optional<MemoryPlan>& window,
                      const MemoryChoice& choice, std::size_t replicas, std::int64_t budget,
                      std::int64_t free) {
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
        text += "memory: the network works in windows of ticks, " + format_bytes(choice.network_budget) +
                " at a time\n";
    }
    if (window) {
        const std::int64_t total = window->total(choice.events_in_flight);
        text += "memory: of a long readout each window of " + std::to_string(window->ticks) +
                " ticks is an event: " + summary(*window, choice) +
                (budget > 0 && total > budget ? ", more than the budget; a shorter -A window= takes less\n"
                                              : "\n");
    }
    if (!plan.unknown_types.empty()) {
        text += "memory: not in these numbers: " + joined(plan.unknown_types) + "\n";
    }
    return text;
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
            {"total_bytes", plan.total(choice.events_in_flight)},
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
