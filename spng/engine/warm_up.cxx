// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/warm_up.h"

#include "spng/core/log/log.h"
#include "spng/device/event_stream.h"
#include "spng/device/lost_device.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/graph/node.h"
#include "spng/graph/node_mixins.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/meter/unmeasured.h"
#include "spng/instrument/start_up.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace spng {
namespace {

/// @return whether a node was called
bool try_once(const Graph& graph) {
    bool called = false;
    std::vector<TensorSetPtr> on_edge(graph.edges().size());
    for (const auto& vertex : graph.vertices()) {
        Ports inputs;
        for (const std::size_t edge : vertex.input_edges) {
            inputs.push_back(std::move(on_edge[edge]));
        }
        Ports outputs;
        if (const auto* starting = dynamic_cast<const DeviceWorkStarter*>(vertex.node)) {
            outputs = starting->example();
        } else if (!inputs.empty() && std::find(inputs.begin(), inputs.end(), nullptr) == inputs.end() &&
                   vertex.node->registered().concurrency != Concurrency::serial) {
            instrument::MeterMode mode;
            mode.device_events = false;
            outputs = vertex.node->call(0, inputs, mode);
            called = true;
        }
        for (std::size_t port = 0; port < outputs.size(); ++port) {
            on_edge[vertex.output_edges[port]] = std::move(outputs[port]);
        }
    }
    return called;
}

} // namespace

double warm_up(const Graph& graph, c10::Device device, int streams) {
    if (device.is_cpu()) {
        return 0;
    }
    const instrument::StartUpPhase phase("warm up " + device.str());
    const instrument::Stopwatch watch;
    const instrument::Unmeasured unmeasured;
    bool called = false;
    try {
        std::vector<std::unique_ptr<EventStream>> held; // held together, so that they are different streams
        for (int stream = 0; stream < streams; ++stream) {
            held.push_back(std::make_unique<EventStream>(device));
            const EventStream::Guard on_stream(*held.back());
            called = try_once(graph);
        }
        wait_for_device(device);
    } catch (const std::exception& error) {
        const auto loss = loss_of(device);
        log::warn("warm-up",
                  loss ? device.str() + " stopped working before the first event: " + *loss
                       : "the warm-up before the first event failed: " + without_trace(error.what()));
        return watch.seconds();
    }
    return called ? watch.seconds() : 0;
}

} // namespace spng
