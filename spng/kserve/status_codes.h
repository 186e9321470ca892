// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers and names of the kinds of failures. Header-only, for the plugin for gRPC too.

#include "spng/kserve/protocol.h"

#include <array>
#include <cstddef>

namespace spng::kserve {

struct StatusCodes {
    unsigned http;
    int grpc; ///< grpc::StatusCode
    const char* name;
};

/// In the order of Status.
inline constexpr std::array<StatusCodes, 7> status_codes{{{400, 3, "invalid"},
                                                          {404, 5, "not_found"},
                                                          {413, 8, "too_large"},
                                                          {503, 8, "overloaded"},
                                                          {503, 14, "unavailable"},
                                                          {504, 4, "timeout"},
                                                          {500, 13, "failed"}}};

constexpr const StatusCodes& codes_of(Status status) {
    return status_codes[static_cast<std::size_t>(status)];
}

} // namespace spng::kserve
