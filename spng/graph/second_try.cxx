#include "spng/graph/second_try.h"

#include "spng/core/log.h"
#include "spng/core/unit_text.h"
#include "spng/device/device_memory.h"

namespace spng {
namespace {

constexpr const char* logger = "memory";

std::string free_text(c10::Device device) {
    const DeviceMemory memory = device_memory(device);
    return memory.free < 0 ? "unknown" : format_bytes(memory.free);
}

std::string what_was_there(c10::Device device, const RunState& state) {
    const std::string& plan = state.memory_plan();
    return "; tried again " + std::to_string(most_tries) + " times with less at the same time; free on " +
           device.str() + ": " + free_text(device) + (plan.empty() ? "" : "; planned: " + plan);
}

} // namespace

SecondTry second_try(EventRun& event, Stall stalled, std::size_t lane, const std::vector<Lane>& lanes,
                     LaneQueues& queues, const RunState& state) {
    const std::string which = "event " + std::to_string(event.index());
    if (stalled == Stall::device) {
        queues.lose(lane);
        const auto other = event.can_move() ? queues.move_from(lane) : std::nullopt;
        log::warn("lanes", lanes[lane].device.str() + " is lost; " + which +
                               (other ? " begins again on " + lanes[*other].device.str() : " fails"));
        if (other) {
            return {SecondTry::What::elsewhere, *other};
        }
        event.give_up_device(queues.none_is_left());
        return {SecondTry::What::give_up, lane};
    }
    const c10::Device device = lanes[lane].device;
    if (event.restarts() >= most_tries) {
        event.give_up(what_was_there(device, state));
        return {SecondTry::What::give_up, lane};
    }
    queues.restrict_to_one(lane);
    log::warn(logger, which + " ran out of memory in " + event.reason().text().where + " (" +
                          event.reason().text().seen + "; free: " + free_text(device) + "); try " +
                          std::to_string(event.restarts() + 1) + " of " + std::to_string(most_tries) +
                          ": alone on " + device.str() +
                          (event.restarts() > 0 ? ", node after node" : ", and so are all later events"));
    return {SecondTry::What::alone, lane};
}

void lose_lane(EventRun& event, std::size_t lane, LaneQueues& queues) {
    queues.lose(lane);
    event.give_up_device(queues.none_is_left());
}

} // namespace spng
