// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reservations of device memory for a job (reservation.h), by its argument `share`.

#include "spng/device/memory/reservation.h"
#include "spng/engine/job.h"

#include <nlohmann/json.hpp>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace spng {

/// Reservations that are held while the object lives.
struct JobReservations {
    std::vector<std::unique_ptr<Reservation>> held; ///< one for each device; empty with share=none
    double waited_seconds = 0;
    bool was_stopped = false; ///< by a signal, during the wait
};

/// Return the folder of the reservations: `share` itself, or the user's default for "auto".
std::filesystem::path reservation_root(const std::string& share);

/// Reserve the memory budget of the job, or its planned memory, on each of its devices. Devices are taken in the
/// order of their names, so that two jobs cannot deadlock.
/// @param settings  of the job
/// @param purpose   shown to people who list the reservations
/// @throws as wait_for_reservation()
JobReservations take_reservations(const Job& job, const nlohmann::json& settings, const std::string& purpose,
                                  const std::atomic<int>& stop_signal);

nlohmann::json json_of(const JobReservations& reservations);

} // namespace spng
