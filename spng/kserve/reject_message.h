// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/core/error.h"

#include <string>
#include <utility>

namespace spng::kserve {

/// Throw Error(Input) for a message that is not one of the protocol, in JSON or of gRPC.
/// @param where  part of the message
[[noreturn]] inline void reject_message(const std::string& where, std::string seen, std::string expected) {
    throw Error(ErrorKind::Input, {.what = "this is not a message of the Open Inference Protocol (KServe v2)",
                                   .where = where,
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = "docs/server.md has examples"});
}

} // namespace spng::kserve
