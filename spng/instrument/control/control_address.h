#pragma once

#include <cstdint>
#include <string>

namespace spng::instrument {

/// Where a running job can be controlled.
struct ControlAddress {
    std::string path;       ///< of a Unix socket; empty: TCP on 127.0.0.1
    std::uint16_t port = 0; ///< 0: any free one
    std::string token;      ///< that a request over TCP must show
};

/// "unix:PATH" or "tcp:PORT". TCP takes the token of the environment variable SPNG_PROFILE_TOKEN: any user of
/// the machine can connect. Throws Error(Usage), also for TCP without a token of at least 16 characters.
/// @param where  what the user wrote it in, for errors
ControlAddress parse_control_address(const std::string& text, const std::string& where);

} // namespace spng::instrument
