#pragma once
// The part of a graph between the upload of an event and the packing of its frame: all that happens on the
// device. It can stand in the graph as one node, which launches it as one (device_section.h).

#include "spng/graph/graph.h"

#include <string>
#include <vector>

namespace spng {

struct GraphSection {
    std::vector<std::size_t> vertices; ///< of the graph, in its order; empty: see `rejection`
    std::vector<std::size_t> entering; ///< edges into it: its input ports
    std::vector<std::size_t> leaving;  ///< edges out of it: its output ports
    std::string rejection;             ///< why there is none, or it cannot be launched as one
};

/// All vertices on a path from a node that DeviceWorkStarter to one with AsynchronousOutput. Rejected when
/// there is none, when one of them sees one event at a time (such as a tap), or Uncapturable.
GraphSection find_device_section(const Graph& graph);

/// The graph with one node in place of the section's.
/// @param node  with as many input and output ports as edges enter and leave
Graph with_section(const Graph& graph, const GraphSection& section, Node& node);

} // namespace spng
