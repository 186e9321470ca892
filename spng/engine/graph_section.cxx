// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/graph_section.h"

#include "spng/graph/node.h"
#include "spng/graph/node_mixins.h"

#include <algorithm>

namespace spng {
namespace {

/// Mark the vertices that can be reached from marked ones, along or against the edges.
void spread(const Graph& graph, std::vector<bool>& marked, bool against) {
    // Vertices are in topological order, so one pass in the right direction reaches all of them.
    const std::size_t count = graph.vertices().size();
    for (std::size_t step = 0; step < count; ++step) {
        const std::size_t vertex = against ? count - 1 - step : step;
        const auto& edges =
            against ? graph.vertices()[vertex].output_edges : graph.vertices()[vertex].input_edges;
        for (const std::size_t edge : edges) {
            const std::size_t beside =
                against ? graph.edges()[edge].head.node : graph.edges()[edge].tail.node;
            marked[vertex] = marked[vertex] || marked[beside];
        }
    }
}

template <class Interface>
std::vector<bool> those_that_are(const Graph& graph) {
    std::vector<bool> marked;
    for (const auto& vertex : graph.vertices()) {
        marked.push_back(dynamic_cast<const Interface*>(vertex.node) != nullptr);
    }
    return marked;
}

std::string rejection_of(const Node& node) {
    if (node.registered().concurrency == Concurrency::serial) {
        return node.name().text() + " sees one event at a time";
    }
    const auto* rejecting = dynamic_cast<const Uncapturable*>(&node);
    const std::string reason = rejecting == nullptr ? "" : rejecting->capture_rejection();
    return reason.empty() ? "" : node.name().text() + ": " + reason;
}

} // namespace

GraphSection find_device_section(const Graph& graph) {
    const auto starts = those_that_are<DeviceWorkStarter>(graph);
    const auto ends = those_that_are<AsynchronousOutput>(graph);
    auto behind = starts;
    auto before = ends;
    spread(graph, behind, false);
    spread(graph, before, true);
    GraphSection section;
    std::vector<bool> inside(graph.vertices().size());
    for (std::size_t i = 0; i < inside.size(); ++i) {
        inside[i] = behind[i] && before[i] && !starts[i] && !ends[i];
        if (inside[i]) {
            section.vertices.push_back(i);
            if (section.rejection.empty()) {
                section.rejection = rejection_of(*graph.vertices()[i].node);
            }
        }
    }
    std::vector<bool> is_end(inside.size());
    for (std::size_t i = 0; i < inside.size(); ++i) {
        const Graph::Vertex& vertex = graph.vertices()[i];
        is_end[i] = ends[i] && std::all_of(vertex.input_edges.begin(), vertex.input_edges.end(),
                                           [&](auto edge) { return inside[graph.edges()[edge].tail.node]; });
        if (is_end[i]) {
            section.ends.push_back(i);
        }
    }
    for (std::size_t edge = 0; edge < graph.edges().size(); ++edge) {
        const std::size_t tail = graph.edges()[edge].tail.node, head = graph.edges()[edge].head.node;
        if (ends[tail] && inside[head] && section.rejection.empty()) {
            section.rejection = graph.vertices()[head].node->name().text() + " works on a packed frame";
        }
        const bool from = inside[tail] || is_end[tail];
        const bool to = inside[head] || is_end[head];
        if (!from && to) {
            section.entering.push_back(edge);
        } else if (from && !to) {
            section.leaving.push_back(edge);
        }
    }
    if (section.vertices.empty()) {
        section.rejection = "the graph has nothing between an upload and the packing of frames";
    }
    return section;
}

Graph with_section(const Graph& graph, const GraphSection& section, Node& node) {
    const auto& old = graph.vertices();
    std::vector<bool> inside(old.size());
    for (const auto* vertices : {&section.vertices, &section.ends}) {
        for (const std::size_t vertex : *vertices) {
            inside[vertex] = true;
        }
    }
    auto behind = inside;
    spread(graph, behind, false);

    // Vertices that do not depend on the section, the section, the others: each part in the old order.
    std::vector<std::size_t> new_index(old.size());
    std::vector<Graph::Vertex> vertices;
    const auto take = [&](bool is_behind) {
        for (std::size_t i = 0; i < old.size(); ++i) {
            if (!inside[i] && behind[i] == is_behind) {
                new_index[i] = vertices.size();
                vertices.push_back({old[i].node, std::vector<std::size_t>(old[i].input_edges.size()),
                                    std::vector<std::size_t>(old[i].output_edges.size())});
            }
        }
    };
    take(false);
    const std::size_t own = vertices.size();
    vertices.push_back({&node, std::vector<std::size_t>(section.entering.size()),
                        std::vector<std::size_t>(section.leaving.size())});
    take(true);

    std::vector<Graph::Edge> edges;
    const auto port_among = [](const std::vector<std::size_t>& list, std::size_t edge) {
        return static_cast<std::size_t>(std::find(list.begin(), list.end(), edge) - list.begin());
    };
    for (std::size_t i = 0; i < graph.edges().size(); ++i) {
        Graph::Edge edge = graph.edges()[i];
        if (inside[edge.tail.node] && inside[edge.head.node]) {
            continue;
        }
        edge.tail = inside[edge.tail.node] ? Graph::Target{own, port_among(section.leaving, i)}
                                           : Graph::Target{new_index[edge.tail.node], edge.tail.port};
        edge.head = inside[edge.head.node] ? Graph::Target{own, port_among(section.entering, i)}
                                           : Graph::Target{new_index[edge.head.node], edge.head.port};
        vertices[edge.tail.node].output_edges[edge.tail.port] = edges.size();
        vertices[edge.head.node].input_edges[edge.head.port] = edges.size();
        edges.push_back(edge);
    }
    return {std::move(vertices), std::move(edges)};
}

} // namespace spng
