// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Open Inference Protocol over HTTP.

#include "spng/kserve/address.h"
#include "spng/kserve/budget.h"
#include "spng/kserve/protocol.h"
#include "spng/serve/io_threads.h"
#include "spng/serve/serve_limits.h"

#include <functional>
#include <memory>
#include <string>

namespace spng {

/// Parts of an HTTP server besides the models.
struct HttpServices {
    kserve::Handler& handler;
    std::function<std::string()> metrics; ///< the text of /metrics
    kserve::Budget memory = {};           ///< [bytes] of the requests of all addresses
};

/// Open an address.
/// @param threads   must live longer than the listener
/// @param services  likewise
/// @throws Error(Usage) if the address cannot be opened: another server has it, or its path is a file
std::unique_ptr<kserve::Listener> serve_http(IoThreads& threads, const kserve::Address& address,
                                             const HttpServices& services, const ServeLimits& limits);

/// Remove a Unix socket on which no process listens.
/// @throws Error(Usage) if a process does, or if the path is no socket
void require_free_socket(const std::string& path);

/// Throw Error(Usage) for an address that cannot be opened.
[[noreturn]] void reject_address(const kserve::Address& address, const std::string& seen,
                                 const std::string& hint);

} // namespace spng
