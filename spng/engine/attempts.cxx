// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/attempts.h"

#include "spng/core/log/log.h"
#include "spng/core/unit_text.h"
#include "spng/device/lost_device.h"
#include "spng/device/memory/device_memory.h"
#include "spng/device/memory/out_of_memory.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace spng {
namespace {

std::string free_text(c10::Device device) {
    const DeviceMemory memory = device_memory(device);
    return memory.free < 0 ? "unknown" : format_bytes(memory.free);
}

std::string name_of(const InFlight& in_flight) {
    return "event " + std::to_string(in_flight.event.index);
}

Error with_event(const InFlight& in_flight, Error error) {
    if (error.text().where.find(name_of(in_flight)) == std::string::npos) {
        error.add_where(name_of(in_flight));
    }
    return error;
}

std::optional<Error> loss_behind(c10::Device device, const Error& error) {
    // Errors of files and of the configuration need no check of the device, which would wait for it.
    const bool is_about_files = error.kind() == ErrorKind::Input || error.kind() == ErrorKind::Output ||
                                error.kind() == ErrorKind::Configuration;
    return is_about_files ? std::nullopt : lost_device_error(device, error);
}

} // namespace

void Attempts::queue(InFlight& in_flight) {
    const Replica& replica = m_replicas[in_flight.replica];
    in_flight.call = std::make_unique<EventCall>(*replica.parts, replica.device, in_flight.event, m_state);
    replica.body->queue(*in_flight.call, in_flight.restarts > 1);
}

void Attempts::start(InFlight& in_flight) noexcept {
    try {
        queue(in_flight);
    } catch (...) {
        in_flight.failure = std::current_exception();
        in_flight.call.reset();
    }
}

bool Attempts::finish(InFlight& in_flight, const std::function<void()>& be_alone) {
    for (;;) {
        try {
            if (in_flight.failure) {
                std::rethrow_exception(std::exchange(in_flight.failure, nullptr));
            }
            if (!in_flight.call) {
                queue(in_flight);
            }
            in_flight.call->complete();
            return true;
        } catch (const Abandoned&) {
            return false;
        } catch (...) {
            const bool no_memory = handles_out_of_memory();
            const Error error = with_event(in_flight, current_error());
            in_flight.call.reset();
            if (!recovers(in_flight, error, no_memory, be_alone)) {
                return false;
            }
        }
    }
}

bool Attempts::recovers(InFlight& in_flight, const Error& error, bool no_memory,
                        const std::function<void()>& be_alone) {
    const c10::Device device = m_replicas[in_flight.replica].device;
    if (const auto loss = loss_behind(device, error)) {
        return moves(in_flight, *loss);
    }
    if (!no_memory) {
        m_state.failed(in_flight.event.index, error);
        return false;
    }
    if (in_flight.restarts >= max_restarts) {
        ErrorText text = error.text();
        const std::string& plan = m_state.memory_plan();
        text.expected += "; tried again " + std::to_string(max_restarts) +
                         " times with less concurrency; free on " + device.str() + ": " + free_text(device) +
                         (plan.empty() ? "" : "; planned: " + plan);
        m_state.failed(in_flight.event.index, Error(error.kind(), text));
        return false;
    }
    m_queues.restrict_to_one(in_flight.replica);
    ++in_flight.restarts;
    log::warn("memory", name_of(in_flight) + " ran out of memory in " + error.text().where + " (" +
                            error.text().seen + "; free: " + free_text(device) + "); restart " +
                            std::to_string(in_flight.restarts) + " of " + std::to_string(max_restarts) +
                            ": alone on " + device.str() +
                            (in_flight.restarts > 1 ? ", one node at a time" : ", as are all later events"));
    be_alone();
    release_memory(in_flight);
    return true;
}

bool Attempts::moves(InFlight& in_flight, const Error& loss) {
    const std::size_t lost = in_flight.replica;
    m_queues.lose(lost);
    std::optional<std::size_t> other;
    if (std::all_of(in_flight.event.sets.begin(), in_flight.event.sets.end(), is_on_host)) {
        other = m_queues.move_from(lost);
    }
    log::warn("replicas", m_replicas[lost].device.str() + " is lost (" + loss.text().seen + "); " +
                              name_of(in_flight) +
                              (other ? " restarts on " + m_replicas[*other].device.str() : " fails"));
    if (other) {
        in_flight.replica = *other;
    } else {
        m_state.lost_device(in_flight.event.index, loss, m_queues.none_is_left());
    }
    return other.has_value();
}

void Attempts::fail(InFlight& in_flight, const Error& error) {
    if (const auto loss = loss_behind(m_replicas[in_flight.replica].device, error)) {
        m_queues.lose(in_flight.replica);
        m_state.lost_device(in_flight.event.index, *loss, m_queues.none_is_left());
    } else {
        m_state.failed(in_flight.event.index, with_event(in_flight, error));
    }
}

void Attempts::release_memory(const InFlight& in_flight) const {
    const Replica& replica = m_replicas[in_flight.replica];
    try {
        replica.body->release_memory(in_flight.restarts > 1);
    } catch (const c10::Error&) {
        // The device is lost; the next use of it reports that.
    }
    release_cached_memory(replica.device);
}

} // namespace spng
