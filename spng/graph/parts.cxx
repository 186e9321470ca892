// SPDX-License-Identifier: Apache-2.0
#include "spng/graph/parts.h"

#include "spng/graph/device_work.h"
#include "spng/graph/node.h"

#include <algorithm>
#include <numeric>

namespace spng {

bool is_shared(const Node& node) {
    return node.registered().inputs.empty() || node.registered().concurrency == Concurrency::serial;
}

Parts split(const Graph& graph) {
    Parts parts;
    parts.slots = graph.edges().size();
    parts.leaves.resize(parts.slots);
    std::vector<std::size_t> slot_of(parts.slots);
    std::iota(slot_of.begin(), slot_of.end(), std::size_t{0});
    std::vector<bool> is_of_tail(parts.slots);    // by slot: a node of the tail makes it
    for (const auto& vertex : graph.vertices()) { // in topological order
        Step step{.node = vertex.node, .starter = dynamic_cast<DeviceWorkStarter*>(vertex.node)};
        step.edges = vertex.input_edges;
        for (const std::size_t edge : vertex.input_edges) {
            step.inputs.push_back(slot_of[edge]);
        }
        if (vertex.node->registered().is_tap) {
            slot_of[vertex.output_edges.front()] = step.inputs.front();
        } else {
            step.outputs = vertex.output_edges;
        }
        const bool is_behind_tail = std::any_of(step.inputs.begin(), step.inputs.end(),
                                                [&](std::size_t slot) { return is_of_tail[slot]; });
        if (vertex.input_edges.empty()) {
            parts.head.push_back(std::move(step));
        } else if (is_shared(*vertex.node) || is_behind_tail) {
            for (const std::size_t slot : step.inputs) {
                parts.leaves[slot] = true;
            }
            for (const std::size_t slot : step.outputs) {
                is_of_tail[slot] = true;
            }
            parts.tail.push_back(std::move(step));
        } else {
            parts.body.push_back(std::move(step));
        }
    }
    return parts;
}

} // namespace spng
