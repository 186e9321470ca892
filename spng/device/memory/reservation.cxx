// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/reservation.h"

#include "spng/core/error.h"
#include "spng/core/files/proc_files.h"
#include "spng/core/log/log.h"
#include "spng/core/printable.h"
#include "spng/core/unit_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

namespace spng {
namespace {

constexpr const char* logger = "reservation";

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string user_name() {
    const char* const name = std::getenv("USER");
    return name == nullptr ? "user " + std::to_string(geteuid()) : name;
}

std::string content_for(const ReservationRequest& request) {
    const nlohmann::json content{{"process", getpid()},        {"process_start", process_start_ticks()},
                                 {"host", host_name()},        {"user", user_name()},
                                 {"device", request.device},   {"bytes", request.bytes},
                                 {"purpose", request.purpose}, {"since", request.since}};
    return json_text(content, 1) + "\n";
}

/// Describe a claim: "holds 2.1 GB, process 123 of ana on host7, since ..., pipeline.jsonnet". Omits
/// values that the content of the file lacks.
std::string to_string(const ReservationFolder& folder, const ReservationClaim& claim) {
    const auto content = nlohmann::json::parse(folder.content_of(claim), nullptr, /*allow_exceptions=*/false);
    const auto value = [&](const char* key, const std::string& before) {
        const bool has_text = content.is_object() && content.contains(key) && content[key].is_string() &&
                              !content[key].get<std::string>().empty();
        return has_text ? before + content[key].get<std::string>() : std::string{};
    };
    return std::string(claim.holding ? "holds" : "waits") + " " + format_bytes(claim.bytes) + ", process " +
           std::to_string(claim.process) + value("user", " of ") + value("host", " on ") +
           value("since", ", since ") + value("purpose", ", ");
}

} // namespace

Reservation::Reservation(const std::filesystem::path& root, ReservationRequest request)
    : m_folder(root, request.device), m_request(std::move(request)),
      m_limits(m_folder.limits({m_request.capacity, 0})) {
    require_possible();
    const FileDescriptor locked = m_folder.lock();
    const auto others = m_folder.claims();
    m_claim = {others.empty() ? 1 : others.back().ticket + 1, getpid(), m_request.bytes, false};
    m_file = m_folder.create(m_claim, content_for(m_request));
}

Reservation::~Reservation() {
    unlink((m_folder.path() / m_claim.file_name()).c_str());
}

void Reservation::require_possible() const {
    const std::int64_t max_bytes = m_limits.bytes;
    if (max_bytes > 0 && m_request.bytes > max_bytes) {
        throw Error(ErrorKind::Device,
                    {.what = "the job needs more memory than the limit for all jobs",
                     .where = m_request.device + " (" + m_folder.path().string() + ")",
                     .seen = format_bytes(m_request.bytes),
                     .expected = "at most " + format_bytes(three_digits_below(max_bytes)),
                     .hint = "-A memory_budget=..., fewer events in flight, or another machine"});
    }
}

bool Reservation::try_to_hold() {
    if (m_claim.holding) {
        return true;
    }
    const FileDescriptor locked = m_folder.lock();
    std::int64_t bytes = m_request.bytes;
    std::int64_t holders = 1;
    for (const ReservationClaim& other : m_folder.claims()) {
        if (other.holding) {
            bytes += other.bytes;
            ++holders;
        } else if (other.ticket < m_claim.ticket) {
            return false;
        }
    }
    if ((m_limits.bytes > 0 && bytes > m_limits.bytes) || (m_limits.slots > 0 && holders > m_limits.slots)) {
        return false;
    }
    ReservationClaim held = m_claim;
    held.holding = true;
    std::error_code failure;
    std::filesystem::rename(m_folder.path() / m_claim.file_name(), m_folder.path() / held.file_name(),
                            failure);
    if (failure) {
        throw Error(ErrorKind::Device, {.what = "the reservation of this job vanished while it waited",
                                        .where = (m_folder.path() / m_claim.file_name()).string(),
                                        .seen = failure.message(),
                                        .expected = "a file that nobody else moves or removes",
                                        .hint = "start the job again; leave the folder to wire-cell"});
    }
    m_claim = held;
    return true;
}

std::string Reservation::in_front() const {
    const FileDescriptor locked = m_folder.lock();
    std::string text;
    for (const ReservationClaim& other : m_folder.claims()) {
        if (other.holding || other.ticket < m_claim.ticket) {
            text += (text.empty() ? "" : "; ") + to_string(m_folder, other);
        }
    }
    return text.empty() ? "nobody" : text;
}

std::unique_ptr<Reservation> wait_for_reservation(const std::filesystem::path& root,
                                                  const ReservationRequest& request,
                                                  const ReservationWait& wait) {
    auto reservation = std::make_unique<Reservation>(root, request);
    const auto pause = static_cast<useconds_t>(std::lround(1e6 * wait.poll_seconds));
    double waited = 0;
    double next_report = 0;
    while (!reservation->try_to_hold()) {
        if (wait.stop_signal != nullptr && wait.stop_signal->load() != 0) {
            return nullptr;
        }
        if (wait.timeout_seconds > 0 && waited >= wait.timeout_seconds) {
            throw Error(ErrorKind::Device,
                        {.what = "timeout while waiting for memory of other jobs",
                         .where = request.device + " (" + root.string() + ")",
                         .seen = reservation->in_front(),
                         .expected = format_bytes(request.bytes) + " within " +
                                     std::to_string(std::lround(wait.timeout_seconds)) + " s",
                         .hint = "run again later, or with a larger -A share_timeout= or on another device"});
        }
        if (waited >= next_report) {
            log::warn(logger, "waiting for " + format_bytes(request.bytes) + " on " + request.device +
                                  "; in front: " + reservation->in_front());
            next_report = waited + wait.report_seconds;
        }
        usleep(pause);
        waited += wait.poll_seconds;
    }
    return reservation;
}

std::string reservations_text(const std::filesystem::path& root) {
    std::string text;
    std::error_code ignored; // a missing folder has no claims
    std::vector<std::string> devices;
    for (const auto& entry : std::filesystem::directory_iterator(root, ignored)) {
        if (std::filesystem::exists(entry.path() / "lock", ignored)) { // true only for our folders
            devices.push_back(entry.path().filename().string());
        }
    }
    std::sort(devices.begin(), devices.end());
    for (const std::string& device : devices) {
        const ReservationFolder folder(root, device);
        const FileDescriptor locked = folder.lock();
        for (const ReservationClaim& claim : folder.claims()) {
            text += device + "  " + to_string(folder, claim) + "\n";
        }
    }
    return text.empty() ? "no job holds or waits for a reservation in " + root.string() + "\n" : text;
}

} // namespace spng
