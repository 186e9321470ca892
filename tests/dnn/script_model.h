#pragma once
// TorchScript files made while the test runs. Only torch_script_model_test.cxx compiles against TorchScript.

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace spng::test {

/// Write a network.
/// @param source    TorchScript text of `def forward(self, x): ...`
/// @param buffers   tensors that the source calls self.<name>
/// @param metadata  content of the extra file metadata.json; none when empty
void save_script_model(const std::filesystem::path& file, const std::string& source,
                       const std::map<std::string, at::Tensor>& buffers = {},
                       const std::string& metadata = {});

/// A network that is a weighted sum of its three features at the same place.
void save_weighted_sum(const std::filesystem::path& file, float first, float second, float third,
                       const std::string& metadata = {});

} // namespace spng::test
