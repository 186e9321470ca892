#pragma once
// A reservation to use some of a device's memory, so that processes that share the device do not run it full.
// First come, first served: a job that waits is not passed by a smaller one, so that large jobs get their
// turn.

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
    std::int64_t bytes = 0;    ///< asked for
    std::int64_t capacity = 0; ///< what all holders together may have where the folder sets no limit; 0: any
    std::string purpose{};     ///< of the job, for people
    std::string since{};       ///< when it was asked for, for people
};

/// Held from when try_to_hold() said so until it is destroyed or the process ends.
class Reservation {
public:
    /// Queue up. Throws as ReservationFolder, and Error(Device) when more is asked for than the device has.
    Reservation(const std::filesystem::path& root, ReservationRequest request);
    ~Reservation();
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    /// Hold it if nobody came earlier and waits still, and what the holders have leaves enough.
    bool try_to_hold();

    const ReservationRequest& request() const { return m_request; }

    /// Who holds and who waits before this one, a line each; for people.
    std::string in_front() const;

private:
    void require_possible() const;

    ReservationFolder m_folder;
    ReservationRequest m_request;
    ReservationLimits m_limits; ///< as they were when it queued up
    ReservationClaim m_claim;
    FileDescriptor m_file;
};

struct ReservationWait {
    double timeout_seconds = 0;                    ///< 0: wait as long as it takes
    double poll_seconds = 0.1;                     ///< between two looks
    double report_seconds = 10;                    ///< between two log lines that say who is in front
    const std::atomic<int>* stop_signal = nullptr; ///< waiting ends when it is not 0
};

/// Wait for a reservation, with a warning in the log at once and then every `report_seconds`. Times are those
/// spent asleep, which no clock that is set changes.
/// @return null when the stop signal came
/// Throws as Reservation, and Error(Device) after the timeout, naming who was in front.
std::unique_ptr<Reservation> wait_for_reservation(const std::filesystem::path& root,
                                                  const ReservationRequest& request,
                                                  const ReservationWait& wait);

/// All claims under `root`, for people: a table, or a line that says that there are none.
std::string reservations_text(const std::filesystem::path& root);

} // namespace spng
