// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace spng {

/// Limits of a server's addresses.
struct ServeLimits {
    std::size_t max_bytes = std::size_t{1} << 30; ///< of one request; all requests together: twice as much
    int max_connections = 64;                     ///< of each address; gRPC: requests at a time
    double idle_seconds = 60;                     ///< without a byte of the client
    double request_seconds = 300; ///< for the transfer of a request, and for its result; 0: no limit
};

} // namespace spng
