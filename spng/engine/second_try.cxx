// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/second_try.h"

#include "spng/core/log/log.h"
#include "spng/core/unit_text.h"
#include "spng/device/memory/device_memory.h"
#include "spng/graph/node_mixins.h"

#include <c10/util/Exception.h>

#include <optional>

namespace spng {
namespace {

constexpr const char* logger = "memory";

std::string free_text(c10::Device device) {
    const DeviceMemory memory = device_memory(device);
    return memory.free < 0 ? "unknown" : format_bytes(memory.free);
}

std::string memory_note(c10::Device device, const RunState& state) {
    const std::string& plan = state.memory_plan();
    return "; tried again " + std::to_string(max_restarts) + " times with less concurrency; free on " +
           device.str() + ": " + free_text(device) + (plan.empty() ? "" : "; planned: " + plan);
}

} // namespace

SecondTry second_try(EventRun& event, Stall stalled, std::size_t replica,
                     const std::vector<Replica>& replicas, ReplicaQueues& queues, const RunState& state) {
    const std::string which = "event " + std::to_string(event.index());
    if (stalled == Stall::device) {
        queues.lose(replica);
        std::optional<std::size_t> other;
        if (event.can_move()) {
            other = queues.move_from(replica);
        }
        log::warn("replicas", replicas[replica].device.str() + " is lost (" + event.reason().text().seen +
                                  "); " + which +
                                  (other ? " restarts on " + replicas[*other].device.str() : " fails"));
        if (other) {
            return {RecoveryAction::elsewhere, *other};
        }
        event.give_up_device(queues.none_is_left());
        return {RecoveryAction::give_up, replica};
    }
    const c10::Device device = replicas[replica].device;
    if (event.restarts() >= max_restarts) {
        event.give_up(memory_note(device, state));
        return {RecoveryAction::give_up, replica};
    }
    queues.restrict_to_one(replica);
    log::warn(logger, which + " ran out of memory in " + event.reason().text().where + " (" +
                          event.reason().text().seen + "; free: " + free_text(device) + "); restart " +
                          std::to_string(event.restarts() + 1) + " of " + std::to_string(max_restarts) +
                          ": alone on " + device.str() +
                          (event.restarts() > 0 ? ", one node at a time" : ", as are all later events"));
    return {RecoveryAction::alone, replica};
}

void release_memory(const Replica& replica, const EventRun& event) {
    for (const auto& vertex : replica.graph->vertices()) {
        if (auto* node = dynamic_cast<SpareMemory*>(vertex.node)) {
            try {
                node->release_memory(event.restarts() > 1);
            } catch (const c10::Error&) {
                // The device is lost; the next use of it reports that.
            }
        }
    }
    release_cached_memory(replica.device);
}

void lose_replica(EventRun& event, std::size_t replica, ReplicaQueues& queues) {
    queues.lose(replica);
    event.give_up_device(queues.none_is_left());
}

} // namespace spng
