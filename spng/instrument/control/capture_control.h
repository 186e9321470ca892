// SPDX-License-Identifier: Apache-2.0
#pragma once
// Control of the recording of a running job: SIGUSR2 switches it on and off, and a small HTTP server answers
// POST /start_profile, POST /stop_profile, GET /timings (Prometheus) and GET /health. One thread does all of it; the
// job never waits for it.

#include "spng/instrument/control/control_address.h"

#include <memory>
#include <optional>
#include <string>

namespace spng::instrument {

class CaptureControl {
public:
    /// Handle the signal and, with an address, serve. A Unix socket has mode 0600 and replaces the socket of a
    /// killed job.
    /// @throws Error(Usage) for an address that is in use or cannot be created
    CaptureControl(const std::optional<ControlAddress>& address, const std::string& where);
    /// End the thread and remove the socket.
    ~CaptureControl();
    CaptureControl(const CaptureControl&) = delete;
    CaptureControl& operator=(const CaptureControl&) = delete;

    /// "unix:PATH" or "http://127.0.0.1:PORT", "" without a server.
    std::string address() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace spng::instrument
