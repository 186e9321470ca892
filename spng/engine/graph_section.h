// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device section of a graph: the nodes between the upload of an event and the packing of its frame, and those
// that pack it. One node can replace them and launch the former as a CUDA graph (device_section.h).

#include "spng/graph/graph.h"

#include <string>
#include <vector>

namespace spng {

struct GraphSection {
    std::vector<std::size_t> vertices; ///< indices in the graph, in its order; empty: see `rejection`
    std::vector<std::size_t> ends;     ///< those with AsynchronousOutput that have no inputs from elsewhere
    std::vector<std::size_t> entering; ///< edges into the section: its input ports
    std::vector<std::size_t> leaving;  ///< edges out of the section and its ends: its output ports
    std::string rejection;             ///< reason why the section is empty or cannot be captured
};

/// Find all vertices on paths from a DeviceWorkStarter to a node with AsynchronousOutput. Reject the section if
/// there are none, or if one of them is serial (such as a tap), Uncapturable, or works on results of an end.
GraphSection find_device_section(const Graph& graph);

/// Replace the nodes of the section by one node.
/// @param node  has one input port for each entering edge and one output port for each leaving edge
Graph with_section(const Graph& graph, const GraphSection& section, Node& node);

} // namespace spng
