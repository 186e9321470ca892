// SPDX-License-Identifier: Apache-2.0
#pragma once
// Between the messages of gRPC and those of protocol.h. Each tensor's bytes are moved or copied once.

#include "spng/kserve/protocol.h"

#include "inference.pb.h"

#include <nlohmann/json.hpp>

namespace spng::kserve {

/// Take the content of a request. Its raw contents are moved out.
/// @throws Error(Input) for anything but tensors with the bytes of their shapes
InferRequest take_request(inference::ModelInferRequest& message);

void fill(inference::ModelInferRequest& message, const InferRequest& request);

/// As take_request().
InferResponse take_response(inference::ModelInferResponse& message);

void fill(inference::ModelInferResponse& message, const InferResponse& response);

/// Fill a message with its JSON, which HTTP sends.
void fill(google::protobuf::Message& message, const nlohmann::json& value);
ModelDescription description_of(const inference::ModelMetadataResponse& message);

} // namespace spng::kserve
