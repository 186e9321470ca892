// SPDX-License-Identifier: Apache-2.0
#include "spng/job/job_reservations.h"

#include "spng/core/log/log.h"
#include "spng/core/unit_text.h"
#include "spng/device/device_identity.h"
#include "spng/instrument/clock.h"

#include <map>
#include <utility>

namespace spng {

std::filesystem::path reservation_root(const std::string& share) {
    return share == "auto" ? ReservationFolder::default_root() : std::filesystem::path(share);
}

JobReservations take_reservations(const Job& job, const nlohmann::json& settings, const std::string& purpose,
                                  const std::atomic<int>& stop_signal) {
    JobReservations reservations;
    const std::string share = settings.at("share");
    if (share == "none") {
        return reservations;
    }
    const auto& memory = settings.at("memory");
    const bool has_budget = !memory.at("budget_bytes").is_null();
    std::map<std::string, ReservationRequest> requests;
    for (const auto& device : job.requested_devices()) {
        const DeviceIdentity identity = identity_of(device);
        auto& request = requests[identity.name];
        request.device = identity.name;
        // Two replicas may share a device; the budget is per device, the plan per replica.
        request.bytes = has_budget ? memory.at("budget_bytes").get<std::int64_t>()
                                   : request.bytes + memory.at("total_bytes").get<std::int64_t>();
        request.capacity = identity.total_memory;
        request.purpose = purpose;
        request.since = instrument::utc_time();
    }
    const ReservationWait wait{.timeout_seconds = settings.at("share_timeout"), .stop_signal = &stop_signal};
    const instrument::Stopwatch waiting;
    for (const auto& [name, request] : requests) {
        auto reservation = wait_for_reservation(reservation_root(share), request, wait);
        if (reservation == nullptr) {
            reservations.was_stopped = true;
            break;
        }
        reservations.held.push_back(std::move(reservation));
        log::info("reservation", [&, &asked = request] {
            return "holds " + format_bytes(asked.bytes) + " on " + asked.device + " after " +
                   std::to_string(waiting.seconds()) + " s";
        });
    }
    reservations.waited_seconds = waiting.seconds();
    return reservations;
}

nlohmann::json json_of(const JobReservations& reservations) {
    nlohmann::json held = nlohmann::json::array();
    for (const auto& reservation : reservations.held) {
        held.push_back({{"device", reservation->request().device}, {"bytes", reservation->request().bytes}});
    }
    return {{"held", std::move(held)}, {"waited_seconds", reservations.waited_seconds}};
}

} // namespace spng
