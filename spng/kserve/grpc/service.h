// SPDX-License-Identifier: Apache-2.0
#pragma once
// The service inference.GRPCInferenceService.

#include "spng/kserve/grpc_plugin.h"

#include <grpcpp/impl/codegen/service_type.h>

#include <cstddef>
#include <limits>
#include <memory>

namespace spng::kserve {

inline constexpr std::size_t max_message_bytes =
    std::numeric_limits<int>::max(); // gRPC counts them in an int

/// Make the service of a handler, which must live longer.
std::unique_ptr<grpc::Service> make_service(Handler& handler, const GrpcLimits& limits);

} // namespace spng::kserve
