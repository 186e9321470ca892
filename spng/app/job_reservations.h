#pragma once
// The reservations that a job waits for before it takes memory (reservation.h), as its argument `share` says.

#include "spng/device/memory/reservation.h"
#include "spng/engine/job.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace spng::app {

/// Held as long as it lives.
struct JobReservations {
    std::vector<std::unique_ptr<Reservation>> held; ///< one for each device; empty with share=none
    double waited_seconds = 0;
    bool was_stopped = false; ///< by the signal, while it waited
};

/// Where jobs with this `share` meet: a folder, or the user's own for "auto".
std::filesystem::path reservation_root(const std::string& share);

/// Ask for the job's memory budget, or else for what its plan says, on each of its devices; devices are asked
/// in the order of their names, so that two jobs cannot wait for each other.
/// @param settings  of the job
/// @param purpose   for people who look at who holds what
/// Throws as wait_for_reservation.
JobReservations take_reservations(const Job& job, const nlohmann::json& settings, const std::string& purpose,
                                  const std::atomic<int>& stop_signal);

nlohmann::json json_of(const JobReservations& reservations);

} // namespace spng::app
