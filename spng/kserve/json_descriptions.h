// SPDX-License-Identifier: Apache-2.0
#pragma once
// Servers and models in JSON, whose names are those of the messages of gRPC. Without LibTorch, for the plugin for gRPC too.

#include "spng/kserve/protocol.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace spng::kserve {

nlohmann::json to_json(const ServerDescription& server);
nlohmann::json to_json(const ModelDescription& model);
/// Return the configuration of a model in the form of Triton.
nlohmann::json config_json(const ModelDescription& model);
nlohmann::json to_json(const std::vector<ModelStatistics>& models);

} // namespace spng::kserve
