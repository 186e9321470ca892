#pragma once
// Models saved as TorchScript (.ts, .pt).

#include "spng/nodes/dnn/model.h"

#include <c10/core/Device.h>

#include <filesystem>
#include <memory>

namespace spng {

/// Load a TorchScript file onto a device, wherever it was saved from, and freeze it: parameters become
/// constants and batch normalisations are folded into convolutions. Metadata come from the extra file
/// "metadata.json" if the file carries one. Forwards run without the graph optimiser of TorchScript, which
/// fuses operations after some calls: the first event gives the same bytes as the second, and no event pays
/// for a compilation.
/// @param bfloat16  convolutions and matrix products in bfloat16; on CUDA also with the features of a sample
///                  next to each other in memory, as its tensor cores read them. What comes out is float32.
/// Throws Error(Model) for a file that is missing, truncated, damaged (model_archive.h), or no TorchScript.
std::unique_ptr<const Model> load_torch_script(const std::filesystem::path& file, c10::Device device,
                                               bool bfloat16 = false);

} // namespace spng
