// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/warm_up.h"

#include "spng/core/log/log.h"
#include "spng/device/event_stream.h"
#include "spng/device/lost_device.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/engine/body/body.h"
#include "spng/graph/device_work.h"
#include "spng/graph/node.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/meter/unmeasured.h"
#include "spng/instrument/start_up.h"

#include <memory>
#include <vector>

namespace spng {
namespace {

/// @return whether a node was called
bool try_once(const Replica& replica, Body& body) {
    const RunState state(RunOptions{.meter_mode = {.device_events = false}});
    EventCall call(*replica.parts, replica.device, HostEvent{}, state);
    call.set_example();
    const EventStream::Guard on_stream(call.stream());
    for (const Step& step : replica.parts->body) {
        if (step.starter != nullptr) {
            auto sets = step.starter->example();
            for (std::size_t port = 0; port < sets.size(); ++port) {
                call.put(step.outputs[port], std::move(sets[port]));
            }
        }
    }
    body.queue(call, true);
    return call.calls() > 0;
}

} // namespace

double warm_up(const Replica& replica, int streams) {
    SerialBody serial;
    Body& body = replica.body == nullptr ? serial : *replica.body;
    const c10::Device device = replica.device;
    if (device.is_cpu()) {
        return 0;
    }
    const instrument::StartUpPhase phase("warm up " + device.str());
    const instrument::Stopwatch watch;
    const instrument::Unmeasured unmeasured;
    bool called = false;
    try {
        std::vector<std::unique_ptr<EventStream>> held; // together, so that the streams differ
        for (int stream = 0; stream < streams; ++stream) {
            called = try_once(replica, body);
            held.push_back(
                std::make_unique<EventStream>(device)); // that of the call, which is used again first
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
