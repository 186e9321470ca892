// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory layout of a network's images and weights. Which one is faster depends on device, library and type: on one H100
// cuDNN took five times as long for depthwise convolutions in float32 with channels last.

#include <string>

namespace torch::jit {
struct Module;
}

namespace spng {

enum class NetworkLayout {
    as_saved,      ///< by the model file; channels last for bfloat16 on CUDA
    contiguous,    ///< (view, feature, channel, tick), ticks fastest
    channels_last, ///< features fastest
};

/// Return "contiguous", "channels last" or "as saved".
std::string to_string(NetworkLayout layout);

/// Give the weights and images of a frozen module another layout: constants of four dimensions, and conversions of the
/// layout in its graph. Values do not change. Call before the first forward. Does nothing for `as_saved`.
void set_layout(torch::jit::Module& module, NetworkLayout layout);

} // namespace spng
