#pragma once
// Noise of a network's charge image in units of the noise that the network was trained on.

#include <ATen/core/Tensor.h>

namespace spng {

struct InputNoise {
    at::Tensor ratio;   ///< (view): noise of the view over that of the training; NaN without a good channel
    at::Tensor divisor; ///< (view, channel): what the charge image is divided by, at least 1
};

/// Compare the noise of an image with that of the training:
///
///     ratio   = median over the good channels of rms / training
///     divisor = max(1, ratio), or rms / training for a hot channel.
///
/// The view's median decides, since signals raise the RMS of single channels. Hot is a channel with
/// rms / training > hot max(1, ratio). Nothing is amplified. Work is queued on the device of the tensors;
/// nothing waits for it.
/// @param rms       noise of each channel (view, channel) [electrons]
/// @param good      bool (view, channel): channels that count for the median; undefined: all do
/// @param training  noise of the training (view, 1), type and device of rms [electrons]
/// @param hot       at least 1
/// @throws Error(Internal) for other shapes or types
InputNoise input_noise(const at::Tensor& rms, const at::Tensor& good, const at::Tensor& training, double hot);

} // namespace spng
