// SPDX-License-Identifier: Apache-2.0
#pragma once
// Noise of the charge image of a network, over the noise of its training.

#include <ATen/core/Tensor.h>

namespace spng {

struct InputNoise {
    at::Tensor
        ratio; ///< (view): measured noise of the view over that of the training; NaN if it is not measured
    at::Tensor divisor; ///< (view, channel): divisor of the charge image, at least 1
};

/// Compare the noise of an image with that of the training:
///
///     ratio   = median over the good channels of rms / training
///     divisor = max(1, ratio), or rms / training for a hot channel.
///
/// The median of the view is used, because signals increase the RMS of single channels. A channel is hot if
/// rms / training > hot max(1, ratio). No channel is amplified. The host does not wait for the device.
/// In a view with fewer than min_measured_channels (view_statistics.h) good channels the expected ratio, if it is known,
/// replaces the measured one in the divisor, and the ratio of the result is NaN.
/// @param rms       noise of each channel (view, channel) [electrons]
/// @param good      bool (view, channel): channels that count for the median; undefined: all
/// @param training  noise of the training (view, 1), type and device of rms [electrons]
/// @param hot       at least 1
/// @param expected  ratio (view, 1) from the noise that the detector's files predict, type of rms; undefined: unknown
/// @throws Error(Internal) for other shapes or types
InputNoise input_noise(const at::Tensor& rms, const at::Tensor& good, const at::Tensor& training, double hot,
                       const at::Tensor& expected = {});

} // namespace spng
