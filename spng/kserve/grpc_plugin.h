// SPDX-License-Identifier: Apache-2.0
#pragma once
// gRPC as a plugin: its protobuf must not meet the older one that LibTorch exports, so only a library of its
// own links it (docs/decisions/server.md).

#include "spng/kserve/address.h"
#include "spng/kserve/protocol.h"

#include <cstddef>
#include <memory>

namespace spng::kserve {

/// Bounds of a server for gRPC.
struct GrpcLimits {
    std::size_t max_bytes = 0; ///< of one request; all requests of an address together: twice as much
    int max_requests = 0;      ///< at the same time
    double idle_seconds = 0; ///< after which a connection without requests is closed, and a silent one pinged
};

/// Functions of the plugin. Its library and ours are of one build: see GrpcPlugin::abi.
struct GrpcPlugin {
    /// Size of this struct and of others, which another build may have changed.
    std::size_t abi;
    Result<std::unique_ptr<Listener>> (*listen)(const Address& address, Handler& handler,
                                                const GrpcLimits& limits);
    std::unique_ptr<RemoteServer> (*connect)(const Address& address);
};

inline constexpr std::size_t grpc_abi =
    sizeof(GrpcPlugin) + sizeof(GrpcLimits) + sizeof(InferRequest) + sizeof(ModelStatistics);
inline constexpr const char* grpc_plugin_function = "spng_grpc_plugin"; ///< const GrpcPlugin* (*)()

/// Load the plugin.
/// @throws Error(Configuration) if this build has none, or if it does not load
const GrpcPlugin& grpc_plugin();

/// Make a client.
/// @throws as grpc_plugin()
std::unique_ptr<RemoteServer> make_grpc_client(const Address& address);

} // namespace spng::kserve
