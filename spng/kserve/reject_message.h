// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/core/error.h"

#include <string>
#include <utility>

namespace spng::kserve {

/// Throw Error(Input).
/// @param where  part of the message
[[noreturn]] inline void reject(const std::string& where, std::string what, std::string seen,
                                std::string expected, std::string hint = {}) {
    throw Error(ErrorKind::Input, {.what = std::move(what),
                                   .where = where,
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = std::move(hint)});
}

/// Throw Error(Input) for a message that is not one of the protocol, in JSON or of gRPC.
[[noreturn]] inline void reject_message(const std::string& where, std::string seen, std::string expected) {
    reject(where, "this is not a message of the Open Inference Protocol (KServe v2)", std::move(seen),
           std::move(expected), "docs/server.md has examples");
}

} // namespace spng::kserve
