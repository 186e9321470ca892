#pragma once
// A running job's recording, controlled from outside: SIGUSR2 switches it on and off, and a small HTTP server
// answers POST /start_profile, POST /stop_profile, GET /timings (Prometheus) and GET /health. One thread of
// its own does all of it; the job never waits for it.

#include "spng/instrument/control/control_address.h"

#include <memory>
#include <optional>
#include <string>

namespace spng::instrument {

class CaptureControl {
public:
    /// Listen to the signal and, with an address, serve. A Unix socket has mode 0600; one that is left of a
    /// job that was killed is replaced. Throws Error(Usage) for an address that is in use or cannot be made.
    CaptureControl(const std::optional<ControlAddress>& address, const std::string& where);
    /// Ends the thread, and removes the socket.
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
