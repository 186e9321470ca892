// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace spng::instrument {

/// Address for the control of a running job.
struct ControlAddress {
    std::string path;       ///< of a Unix socket; empty: TCP on 127.0.0.1
    std::uint16_t port = 0; ///< 0: any free port
    std::string token;      ///< required in requests over TCP
};

/// Parse "unix:PATH" or "tcp:PORT". TCP requires the token of the environment variable SPNG_PROFILE_TOKEN, since any
/// user of the machine can connect.
/// @param where  the option, for errors
/// @throws Error(Usage), also for TCP with a token of fewer than 16 characters
ControlAddress parse_control_address(const std::string& text, const std::string& where);

} // namespace spng::instrument
