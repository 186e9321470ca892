// SPDX-License-Identifier: Apache-2.0
#pragma once
// Input of an ROI-finding network, and ROIs from its output (docs/physics-notes.md#dnnroi).

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace spng {

/// Stack the feature images of a network. Charge images become image / divisor * scale + offset. Masks become
/// 0 and 1 and are not scaled, as in the training.
/// @param images   (view, channel, tick) of equal sizes on one device, real [electrons], or packed masks (view,
///                 channel, word) int64, in the order of the network's feature axis
/// @param ticks    of each image
/// @param divisor  (charge image, view, channel), see input_noise.h; undefined: 1
/// @return (view, feature, channel, tick) float32
/// @throws Error(Internal) if the sizes differ
/// One operator call: spng::stack_features.
at::Tensor stack_features(const std::vector<at::Tensor>& images, std::int64_t ticks, double scale,
                          double offset, const at::Tensor& divisor = {});

/// The body of ATen operations: on the CPU, and on a device for images of several types.
at::Tensor stack_features_by_parts(at::TensorList images, std::int64_t ticks, double scale, double offset,
                                   const std::optional<at::Tensor>& divisor);

namespace kernels { // the body on CUDA: spng/kernels/features.cxx
at::Tensor stack_features(at::TensorList images, std::int64_t ticks, double scale, double offset,
                          const std::optional<at::Tensor>& divisor);
} // namespace kernels

/// Return the samples of good channels whose probability is above the threshold.
/// @param probability  (view, channel, tick)
/// @param good         (view, channel) bool; undefined: all channels are good
/// @return (view, channel, word) int64, packed
at::Tensor probable_regions(const at::Tensor& probability, double threshold, const at::Tensor& good);

} // namespace spng
