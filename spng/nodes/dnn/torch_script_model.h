// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks saved as TorchScript (.ts, .pt).

#include "spng/nodes/dnn/model.h"

#include <c10/core/Device.h>

#include <filesystem>
#include <memory>
#include <string>

namespace spng {

/// Memory layout of a network's images and weights. Which one is faster depends on device, library and type: on one H100
/// cuDNN took five times as long for depthwise convolutions in float32 with channels last.
enum class NetworkLayout {
    as_saved,      ///< by the model file; channels last for bfloat16 on CUDA
    contiguous,    ///< (view, feature, channel, tick), ticks fastest
    channels_last, ///< features fastest
};

/// Return "contiguous", "channels last" or "as saved".
std::string to_string(NetworkLayout layout);

/// Load a TorchScript file onto a device and freeze it: parameters become constants and batch normalisations
/// are folded into convolutions. The metadata are the extra file "metadata.json", if present. Forwards run
/// without the graph optimiser of TorchScript, which fuses operations after some calls. So the first event
/// gives the same bytes as later ones, and no event waits for a compilation.
/// @param bfloat16  run convolutions and matrix products in bfloat16. The output is float32.
/// @param layout    of the constants of four dimensions, and of conversions of the layout in the network
/// @throws Error(Model) if the file is missing, truncated, damaged (model_archive.h) or no TorchScript file
std::unique_ptr<const Model> load_torch_script(const std::filesystem::path& file, c10::Device device,
                                               bool bfloat16 = false,
                                               NetworkLayout layout = NetworkLayout::as_saved);

} // namespace spng
