#pragma once
// What a network does not say about itself is measured before the first event: how far its outputs see, and
// how much memory it takes.

#include "spng/nodes/dnn/windowed_forward.h"

#include <c10/core/Device.h>

namespace spng {

/// Values in [0, 1) without a pattern that a convolution could be blind to, the same on every machine: the
/// fractional parts of multiples of the golden ratio.
/// @return float32 (view, feature, channel, tick)
at::Tensor probe_features(at::IntArrayRef sizes, c10::Device device);

/// Samples along ticks, to each side, by which a change of the input reaches the output: forwards that differ
/// in one block of `multiple` samples are compared; what two equal forwards differ by (0 on the CPU) is not a
/// change. It is the sight of the network on one input of at most 64 channels; a network that looks further
/// on other input needs its halo in its metadata or in the configuration.
/// @param sizes  (view, feature, channel, tick) of the job
/// Throws Error(Model) when changes reach the ends of the probe: such a network cannot be cut.
std::int64_t measured_halo(const Model& model, const ModelLayout& layout, at::IntArrayRef sizes,
                           c10::Device device);

/// Peak of the tensor memory of a forward for each tick of its input, from a forward of few ticks; 0 where it
/// cannot be measured (a profiler of LibTorch's is on). Workspaces inside library calls are not seen.
/// @param sizes  (view, feature, channel, tick) of the job
std::int64_t measured_bytes_per_tick(const Model& model, const ModelLayout& layout, at::IntArrayRef sizes,
                                     c10::Device device);

} // namespace spng
