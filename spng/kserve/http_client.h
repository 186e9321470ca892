// SPDX-License-Identifier: Apache-2.0
#pragma once
// Client of the Open Inference Protocol over HTTP.

#include "spng/kserve/address.h"
#include "spng/kserve/protocol.h"

#include <memory>

namespace spng::kserve {

/// Make a client. It connects at the first request, keeps its connections, and opens one for each concurrent
/// request. It asks before it sends a large body (Expect: 100-continue), so that a busy server need not read
/// it.
std::unique_ptr<RemoteServer> make_http_client(const Address& address);

/// Make a client for HTTP or gRPC.
/// @throws Error(Configuration) if the address is one for gRPC and this build has none
std::unique_ptr<RemoteServer> make_client(const Address& address);

} // namespace spng::kserve
