// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reservations of device memory, so that processes that share a device do not exhaust it. First come, first
// served: a smaller job does not overtake a waiting one, so large jobs get their turn.

#include "spng/device/memory/reservation_folder.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

struct ReservationRequest {
    std::string device;        ///< "host", or the identity of a GPU
    std::int64_t bytes = 0;    ///< requested
    std::int64_t capacity = 0; ///< maximum of all holders together if the folder sets no limit; 0: no maximum
    std::string purpose{};     ///< of the job, for display
    std::string since{};       ///< time of the request, for display
};

/// A claim on device memory. Held from the success of try_to_hold() until it is destroyed or the process
/// ends.
class Reservation {
public:
    /// Join the queue.
    /// @throws Error(Device) if the request exceeds the limit of the device, and as ReservationFolder
    Reservation(const std::filesystem::path& root, ReservationRequest request);
    ~Reservation();
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    /// Hold the reservation if no earlier claim is waiting and the holders leave enough memory.
    /// @return true if it is held
    /// @throws Error(Device) if somebody removed the file of the claim
    bool try_to_hold();

    const ReservationRequest& request() const { return m_request; }

    /// Describe the holders and the claims that wait before this one, for display.
    std::string in_front() const;

private:
    void require_possible() const;

    ReservationFolder m_folder;
    ReservationRequest m_request;
    ReservationLimits m_limits; ///< at the time of the request
    ReservationClaim m_claim;
    FileDescriptor m_file;
};

struct ReservationWait {
    double timeout_seconds = 0;                    ///< 0: no timeout
    double poll_seconds = 0.1;                     ///< between two attempts
    double report_seconds = 10;                    ///< between two log lines about the jobs in front
    const std::atomic<int>* stop_signal = nullptr; ///< ends the waiting when it is not 0
};

/// Wait for a reservation. Log a warning at once and then every `report_seconds`. Time is counted by the
/// sleeps, so setting a clock does not affect it.
/// @return null if the stop signal ended the waiting
/// @throws Error(Device) after the timeout, naming the jobs in front, and as Reservation
std::unique_ptr<Reservation> wait_for_reservation(const std::filesystem::path& root,
                                                  const ReservationRequest& request,
                                                  const ReservationWait& wait);

/// Return a table of all claims under `root`, for display; one line if there are none.
std::string reservations_text(const std::filesystem::path& root);

} // namespace spng
