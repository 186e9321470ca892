// SPDX-License-Identifier: Apache-2.0
#pragma once
// Noise of the charge image of a network, over the noise of its training.

#include <ATen/core/Tensor.h>

namespace spng {

struct InputNoise {
    at::Tensor ratio;   ///< (view): noise of the view over that of the training; NaN without a good channel
    at::Tensor divisor; ///< (view, channel): divisor of the charge image, at least 1
};

/// Compare the noise of an image with that of the training:
///
///     ratio   = median over the good channels of rms / training
///     divisor = max(1, ratio), or rms / training for a hot channel.
///
/// The median of the view is used, because signals increase the RMS of single channels. A channel is hot if
/// rms / training > hot max(1, ratio). No channel is amplified. The host does not wait for the device.
/// @param rms       noise of each channel (view, channel) [electrons]
/// @param good      bool (view, channel): channels that count for the median; undefined: all
/// @param training  noise of the training (view, 1), type and device of rms [electrons]
/// @param hot       at least 1
/// @throws Error(Internal) for other shapes or types
InputNoise input_noise(const at::Tensor& rms, const at::Tensor& good, const at::Tensor& training, double hot);

} // namespace spng
