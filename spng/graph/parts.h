// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of a job: head (sources), body (nodes that see one event and nothing else) and tail (nodes that see the
// events in the order of the input). Engines poll the head, call the body as a function, and give its results to the
// tail (docs/decisions/one-body.md).

#include "spng/graph/graph.h"

#include <cstddef>
#include <vector>

namespace spng {

class DeviceWorkStarter;

/// A node with the slots of its ports. A slot is the index of an edge and holds the set of one event.
struct Step {
    Node* node = nullptr;
    DeviceWorkStarter* starter = nullptr; ///< the node, if it is one
    std::vector<std::size_t> inputs{};    ///< slots, by input port
    std::vector<std::size_t> outputs{};   ///< slots, by output port
    std::vector<std::size_t> edges{};     ///< by input port; not those of `inputs` behind a tap
};

struct Parts {
    std::vector<Step> head, body, tail; ///< in topological order
    std::size_t slots = 0;
    /// By slot: the tail reads it, so the body keeps it.
    std::vector<bool> leaves;
};

/// Whether the node belongs to the head or is a serial node of the tail. The replicas of a job share these nodes.
bool is_shared(const Node& node);

/// Split a graph. The head are the nodes without inputs, the tail the other serial nodes and all nodes behind them.
/// A tap (ComponentType::is_tap) is a serial node with an effect on no other: the nodes behind it get its input, and
/// stay in the body.
Parts split(const Graph& graph);

} // namespace spng
