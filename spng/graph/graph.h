// SPDX-License-Identifier: Apache-2.0
#pragma once
// The validated graph of one job: nodes in topological order, and the edges between their ports.

#include "spng/core/component.h"
#include "spng/core/field.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace spng {

class Node;

/// One end of an edge as the configuration writes it: {node: "Type:instance", port: 0}.
struct EndpointConfig {
    std::string node;
    int port = 0;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&EndpointConfig::node, "node", "", required(), "Type:instance of a node"),
            field(&EndpointConfig::port, "port", "", at_least(0), "index of the port"));
    }
};

struct EdgeConfig {
    EndpointConfig tail, head;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&EdgeConfig::tail, "tail", "", required(), "output port where the edge begins"),
            field(&EdgeConfig::head, "head", "", required(), "input port where the edge ends"));
    }
};

class Graph {
public:
    struct Target {
        std::size_t node; ///< index in vertices()
        std::size_t port;
    };
    struct Vertex {
        Node* node = nullptr;
        std::vector<std::size_t> input_edges;  ///< index in edges(), by input port
        std::vector<std::size_t> output_edges; ///< index in edges(), by output port
    };
    struct Edge {
        Target tail, head;
    };

    /// Connect the nodes of `environment` by `edges`.
    /// @param source  the configuration file, named in errors
    /// @throws Error(Configuration) for edges to unknown nodes or ports, ports without an edge or with two,
    /// nodes without edges, and cycles
    Graph(const Environment& environment, const std::vector<EdgeConfig>& edges, const std::string& source);

    /// Take parts that are valid: vertices in topological order, and the edges that they name.
    Graph(std::vector<Vertex> vertices, std::vector<Edge> edges)
        : m_vertices(std::move(vertices)), m_edges(std::move(edges)) {}

    /// Copy the graph and replace each node by the one of the same name in `environment`, if there is one.
    Graph with_nodes_of(const Environment& environment) const;

    /// Vertices in topological order. Of several possible next vertices, the first of the configuration comes
    /// first.
    const std::vector<Vertex>& vertices() const { return m_vertices; }
    const std::vector<Edge>& edges() const { return m_edges; }
    /// Write the graph for Graphviz: boxes coloured by kind, edges labelled with the names of their ports.
    std::string dot() const;

private:
    std::vector<Vertex> m_vertices;
    std::vector<Edge> m_edges;
};

} // namespace spng
