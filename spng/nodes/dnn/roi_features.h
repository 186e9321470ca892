#pragma once
// The input of a region-finding network and the regions in its output (spng.md 5.9).

#include <ATen/core/Tensor.h>

#include <vector>

namespace spng {

/// Feature images side by side. Images of charge become image / divisor * scale + offset; masks become 0 and
/// 1 and are never scaled, since the network learned them so.
/// @param images  (view, channel, tick) of equal sizes on one device: floating [electrons] or bool, in the
///                order of the network's feature axis
/// @param divisor (view, channel), see input_noise.h; undefined: 1
/// @return float32 (view, feature, channel, tick)
/// Throws Error(Internal) for sizes that differ.
at::Tensor stack_features(const std::vector<at::Tensor>& images, double scale, double offset,
                          const at::Tensor& divisor = {});

/// Where the probability is strictly above the threshold and the channel is good.
/// @param probability  (view, channel, tick)
/// @param good         bool (view, channel); undefined: all are
/// @return bool (view, channel, tick), contiguous
at::Tensor probable_regions(const at::Tensor& probability, double threshold, const at::Tensor& good);

} // namespace spng
