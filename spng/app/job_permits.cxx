#include "spng/app/job_permits.h"

#include "spng/core/log.h"
#include "spng/core/unit_text.h"
#include "spng/device/device_identity.h"
#include "spng/instrument/clock.h"

#include <map>
#include <utility>

namespace spng::app {

std::filesystem::path permit_root(const std::string& share) {
    return share == "auto" ? PermitFolder::default_root() : std::filesystem::path(share);
}

JobPermits take_permits(const Job& job, const nlohmann::json& settings, const std::string& purpose,
                        const std::atomic<int>& stop_signal) {
    JobPermits permits;
    const std::string share = settings.at("share");
    if (share == "none") {
        return permits;
    }
    const auto& memory = settings.at("memory");
    const bool has_budget = !memory.at("budget_bytes").is_null();
    std::map<std::string, PermitRequest> requests;
    for (const auto& device : job.asked_devices()) {
        const DeviceIdentity identity = identity_of(device);
        auto& request = requests[identity.name];
        request.device = identity.name;
        // Two lanes may be on one device; the budget is of the device, the plan that of a lane.
        request.bytes = has_budget ? memory.at("budget_bytes").get<std::int64_t>()
                                   : request.bytes + memory.at("total_bytes").get<std::int64_t>();
        request.capacity = identity.total_memory;
        request.purpose = purpose;
        request.since = instrument::utc_time();
    }
    const PermitWait wait{.timeout_seconds = settings.at("share_timeout"), .stop_signal = &stop_signal};
    const instrument::Stopwatch waiting;
    for (const auto& [name, request] : requests) {
        auto permit = wait_for_permit(permit_root(share), request, wait);
        if (permit == nullptr) {
            permits.was_stopped = true;
            break;
        }
        permits.held.push_back(std::move(permit));
        log::info("permit", [&, &asked = request] {
            return "holds " + format_bytes(asked.bytes) + " on " + asked.device + " after " +
                   std::to_string(waiting.seconds()) + " s";
        });
    }
    permits.waited_seconds = waiting.seconds();
    return permits;
}

nlohmann::json json_of(const JobPermits& permits) {
    nlohmann::json held = nlohmann::json::array();
    for (const auto& permit : permits.held) {
        held.push_back({{"device", permit->request().device}, {"bytes", permit->request().bytes}});
    }
    return {{"held", std::move(held)}, {"waited_seconds", permits.waited_seconds}};
}

} // namespace spng::app
