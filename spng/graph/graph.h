#pragma once
// The validated graph of one job: nodes in an order in which every node comes after those that feed it, and
// the edges between their ports.

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
            field(&EndpointConfig::port, "port", "", at_least(0), "number of its port"));
    }
};

struct EdgeConfig {
    EndpointConfig tail, head;
    static constexpr auto fields() {
        return std::make_tuple(field(&EdgeConfig::tail, "tail", "", required(), "the output port it leaves"),
                               field(&EdgeConfig::head, "head", "", required(), "the input port it enters"));
    }
};

class Graph {
public:
    struct Target {
        std::size_t node; ///< position in vertices()
        std::size_t port;
    };
    struct Vertex {
        Node* node = nullptr;
        std::vector<std::size_t> input_edges;  ///< edge number by input port
        std::vector<std::size_t> output_edges; ///< edge number by output port
    };
    struct Edge {
        Target tail, head;
    };

    /// Connect the nodes of `environment` as `edges` say.
    /// @param source  the configuration file, named in errors
    /// Throws Error(Configuration) for edges to unknown nodes or ports, ports without an edge or with two,
    /// nodes that no edge touches, and circles.
    Graph(const Environment& environment, const std::vector<EdgeConfig>& edges, const std::string& source);

    /// Of parts that fit together already: vertices in topological order, edges that they name.
    Graph(std::vector<Vertex> vertices, std::vector<Edge> edges)
        : m_vertices(std::move(vertices)), m_edges(std::move(edges)) {}

    /// The same graph with those nodes that `environment` has instead of ours of the same names.
    Graph with_nodes_of(const Environment& environment) const;

    /// In topological order; among nodes that could come next, the one that stands first in the
    /// configuration.
    const std::vector<Vertex>& vertices() const { return m_vertices; }
    const std::vector<Edge>& edges() const { return m_edges; }
    /// Graphviz: boxes coloured by kind, edges labelled with the names of their ports.
    std::string dot() const;

private:
    std::vector<Vertex> m_vertices;
    std::vector<Edge> m_edges;
};

} // namespace spng
