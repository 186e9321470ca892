// SPDX-License-Identifier: Apache-2.0
#pragma once
// TorchScript files made during the tests. Only torch_script_model_test.cxx compiles against TorchScript.

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace spng::test {

/// Save a network.
/// @param source    TorchScript text of `def forward(self, x): ...`
/// @param buffers   tensors with the names self.<name> in the source
/// @param metadata  content of the extra file metadata.json; empty: no file
void save_script_model(const std::filesystem::path& file, const std::string& source,
                       const std::map<std::string, at::Tensor>& buffers = {},
                       const std::string& metadata = {});

/// Save a network that returns the weighted sum of its three features at each position.
void save_weighted_sum(const std::filesystem::path& file, float first, float second, float third,
                       const std::string& metadata = {});

} // namespace spng::test
