// SPDX-License-Identifier: Apache-2.0
#include "spng/graph/graph.h"

#include "spng/graph/node.h"

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

namespace spng {
namespace {

constexpr std::size_t unconnected = std::numeric_limits<std::size_t>::max();

[[noreturn]] void reject(const std::string& source, const std::string& what, const std::string& where,
                         const std::string& seen, const std::string& expected, const std::string& hint) {
    throw Error(ErrorKind::Configuration, {.what = what,
                                           .where = where + " (" + source + ")",
                                           .seen = seen,
                                           .expected = expected,
                                           .hint = hint});
}

std::string port_text(const Node& node, bool input, std::size_t port) {
    const auto names = input ? node.input_ports() : node.output_ports();
    return std::string(input ? "input" : "output") + " port " + std::to_string(port) + " ('" +
           names.at(port) + "')";
}

/// The edge list and vertices in configuration order, before sorting.
class Wiring {
public:
    Wiring(const Environment& environment, const std::string& source) : m_source(source) {
        for (const auto& component : environment.components()) {
            m_component_names.push_back(component->name().text());
            if (auto* node = dynamic_cast<Node*>(component.get())) {
                m_names.push_back(node->name().text());
                vertices.push_back({node, std::vector<std::size_t>(node->input_ports().size(), unconnected),
                                    std::vector<std::size_t>(node->output_ports().size(), unconnected)});
            }
        }
    }

    void connect(const EdgeConfig& edge, std::size_t index) {
        const std::string where = "edges[" + std::to_string(index) + "]";
        const Graph::Target tail = target(edge.tail, where + ".tail", false);
        const Graph::Target head = target(edge.head, where + ".head", true);
        take(vertices[tail.node].output_edges[tail.port], tail, false, where);
        take(vertices[head.node].input_edges[head.port], head, true, where);
        edges.push_back({tail, head});
    }

    void require_all_connected() const {
        for (const auto& vertex : vertices) {
            for (const bool input : {true, false}) {
                const auto& ports = input ? vertex.input_edges : vertex.output_edges;
                const auto open = std::find(ports.begin(), ports.end(), unconnected);
                if (open != ports.end()) {
                    const auto port = static_cast<std::size_t>(open - ports.begin());
                    reject(m_source, "a port is not connected",
                           vertex.node->name().text() + ", " + port_text(*vertex.node, input, port),
                           "no edge", "one edge",
                           input ? "connect an output to it"
                                 : "connect it, or end it in an SPNGDiscard node");
                }
            }
        }
    }

    std::vector<Graph::Vertex> vertices;
    std::vector<Graph::Edge> edges;

private:
    Graph::Target target(const EndpointConfig& end, const std::string& where, bool input) const {
        const auto found = std::find(m_names.begin(), m_names.end(), end.node);
        if (found == m_names.end()) {
            const bool is_component = std::find(m_component_names.begin(), m_component_names.end(),
                                                end.node) != m_component_names.end();
            reject(m_source,
                   is_component ? "an edge ends at a component that is not a node"
                                : "an edge ends at an unknown node",
                   where, "'" + end.node + "'", "the name of a configured node",
                   suggestion(end.node, m_names));
        }
        const auto node = static_cast<std::size_t>(found - m_names.begin());
        const std::size_t ports =
            input ? vertices[node].input_edges.size() : vertices[node].output_edges.size();
        if (static_cast<std::size_t>(end.port) >= ports) {
            reject(m_source, "an edge ends at a port that the node does not have",
                   where + ", node " + end.node, "port " + std::to_string(end.port),
                   std::to_string(ports) + (input ? " input" : " output") +
                       (ports == 1 ? " port" : " ports") + ", counted from 0",
                   "wire-cell --describe " + vertices[node].node->name().type + " lists its ports");
        }
        return {node, static_cast<std::size_t>(end.port)};
    }

    void take(std::size_t& slot, const Graph::Target& target, bool input, const std::string& where) const {
        const Node& node = *vertices[target.node].node;
        if (slot != unconnected) {
            reject(m_source, "a port is connected twice",
                   where + ", node " + node.name().text() + ", " + port_text(node, input, target.port),
                   "also edges[" + std::to_string(slot) + "]", "one edge at each port",
                   input ? "merge the two with an SPNGFaninTensorSets node"
                         : "split it with an SPNGFanoutTensorSets node");
        }
        slot = edges.size();
    }

    std::string m_source;
    std::vector<std::string> m_names, m_component_names;
};

/// Kahn's algorithm that always takes the earliest ready vertex: the order is unique.
std::vector<std::size_t> topological_order(const Wiring& wiring, const std::string& source) {
    std::vector<std::size_t> open_inputs, order;
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < wiring.vertices.size(); ++i) {
        open_inputs.push_back(wiring.vertices[i].input_edges.size());
        if (open_inputs.back() == 0) {
            ready.insert(i);
        }
    }
    while (!ready.empty()) {
        const std::size_t next = *ready.begin();
        ready.erase(ready.begin());
        order.push_back(next);
        for (const std::size_t edge : wiring.vertices[next].output_edges) {
            const std::size_t fed = wiring.edges[edge].head.node;
            if (--open_inputs[fed] == 0) {
                ready.insert(fed);
            }
        }
    }
    if (order.size() != wiring.vertices.size()) {
        std::vector<std::string> stuck;
        for (std::size_t i = 0; i < wiring.vertices.size(); ++i) {
            if (open_inputs[i] != 0) {
                stuck.push_back(wiring.vertices[i].node->name().text());
            }
        }
        reject(source, "the graph has a cycle", "edges", "nodes in or after the cycle: " + joined(stuck),
               "edges without a cycle", "remove the edge that leads back");
    }
    return order;
}

const char* colour_of(const std::string& kind) {
    static const std::map<std::string, const char*> colours{
        {"source", "#d5e8d4"},   {"sink", "#d5e8d4"}, {"frame", "#dae8fc"},       {"decon", "#ffe6cc"},
        {"filter", "#fff2cc"},   {"roi", "#f8cecc"},  {"coincidence", "#e1d5e7"}, {"dnn", "#fad7ac"},
        {"plumbing", "#f5f5f5"}, {"sim", "#cdeac0"},  {"noise", "#e2f0cb"}};
    const auto found = colours.find(kind);
    return found == colours.end() ? "#ffffff" : found->second;
}

} // namespace

Graph::Graph(const Environment& environment, const std::vector<EdgeConfig>& edges,
             const std::string& source) {
    Wiring wiring(environment, source);
    for (std::size_t i = 0; i < edges.size(); ++i) {
        wiring.connect(edges[i], i);
    }
    wiring.require_all_connected();
    const auto order = topological_order(wiring, source);
    std::vector<std::size_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        position[order[i]] = i;
        m_vertices.push_back(wiring.vertices[order[i]]);
    }
    m_edges = wiring.edges;
    for (auto& edge : m_edges) {
        edge.tail.node = position[edge.tail.node];
        edge.head.node = position[edge.head.node];
    }
}

Graph Graph::with_nodes_of(const Environment& environment) const {
    Graph other = *this;
    for (auto& vertex : other.m_vertices) {
        if (auto* const node = dynamic_cast<Node*>(environment.find(vertex.node->name().text()))) {
            vertex.node = node;
        }
    }
    return other;
}

std::string Graph::dot() const {
    std::ostringstream out;
    out << "digraph spng {\n  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", "
           "fontname=\"Helvetica\"];\n"
        << "  edge [fontname=\"Helvetica\", fontsize=9];\n";
    for (std::size_t i = 0; i < m_vertices.size(); ++i) {
        const Node& node = *m_vertices[i].node;
        out << "  n" << i << " [label=\"" << node.name().type << "\\n"
            << node.name().instance << "\", fillcolor=\"" << colour_of(node.registered().kind) << "\"];\n";
    }
    for (const auto& edge : m_edges) {
        const auto tail = m_vertices[edge.tail.node].node->output_ports()[edge.tail.port];
        const auto head = m_vertices[edge.head.node].node->input_ports()[edge.head.port];
        out << "  n" << edge.tail.node << " -> n" << edge.head.node << " [label=\"" << tail;
        if (tail != head) {
            out << " > " << head;
        }
        out << "\"];\n";
    }
    out << "}\n";
    return out.str();
}

} // namespace spng
