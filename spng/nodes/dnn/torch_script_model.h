// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks saved as TorchScript (.ts, .pt).

#include "spng/nodes/dnn/model.h"
#include "spng/nodes/dnn/network_layout.h"

#include <c10/core/Device.h>

#include <filesystem>
#include <memory>

namespace spng {

/// Load a TorchScript file onto a device and freeze it: parameters become constants and batch normalisations
/// are folded into convolutions. The metadata are the extra file "metadata.json", if present. Forwards run
/// without the graph optimiser of TorchScript, which fuses operations after some calls. So the first event
/// gives the same bytes as later ones, and no event waits for a compilation.
/// @param bfloat16  run convolutions and matrix products in bfloat16. The output is float32.
/// @throws Error(Model) if the file is missing, truncated, damaged (model_archive.h) or no TorchScript file
std::unique_ptr<const Model> load_torch_script(const std::filesystem::path& file, c10::Device device,
                                               bool bfloat16 = false,
                                               NetworkLayout layout = NetworkLayout::as_saved);

} // namespace spng
