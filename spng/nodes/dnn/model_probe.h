// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measurements of a network before the first event, for properties that its metadata do not give: halo and
// memory.

#include "spng/nodes/dnn/tiled_forward.h"

#include <c10/core/Device.h>

namespace spng {

/// Return values in [0, 1) without a pattern that a convolution could suppress, the same on every machine:
/// fractional parts of multiples of the golden ratio.
/// @param sizes  (view, feature, channel, tick)
/// @return (view, feature, channel, tick) float32
at::Tensor probe_features(at::IntArrayRef sizes, c10::Device device);

/// Measure the halo: by how many samples along ticks, to each side, a change of the input reaches the output.
/// Two forwards with inputs that differ in one block of `multiple` samples are compared; differences as
/// between two equal forwards (0 on the CPU) do not count. The probe has at most 64 channels. If the halo of
/// a network is larger on other inputs, its metadata or the configuration must give it.
/// @param sizes  (view, feature, channel, tick) of the job
/// @throws Error(Model) if changes reach the ends of the probe; such a network cannot be cut
std::int64_t measured_halo(const Model& model, const ModelLayout& layout, at::IntArrayRef sizes,
                           c10::Device device);

/// Measure the peak tensor memory of a forward per tick of its input, with a forward of few ticks. Workspaces
/// inside library calls are not included.
/// @param sizes  (view, feature, channel, tick) of the job
/// @return bytes; 0 if it cannot be measured (while a LibTorch profiler is on)
std::int64_t measured_bytes_per_tick(const Model& model, const ModelLayout& layout, at::IntArrayRef sizes,
                                     c10::Device device);

} // namespace spng
