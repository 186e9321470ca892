// SPDX-License-Identifier: Apache-2.0
#pragma once
// Second step of SPNGDecon: single channels without a usable waveform (docs/physics-notes.md#deconvolution).

#include <ATen/core/Tensor.h>

namespace spng {

/// Replace each row that is not good, between two neighbours that are, by their mean. Without it the deconvolution would
/// give the neighbours the charge whose currents this channel should have had. All other rows keep their bits.
/// @param spectrum  (view, channel, frequency) complex, of each row; changed in place
/// @param good      (view, channel) bool on the same device
/// @param cyclic    true: the last channel of a view is next to its first (wrapped planes)
/// @throws Error(Internal) for other shapes or types
/// One operator call: spng::interpolate_rows_.
void interpolate_rows(const at::Tensor& spectrum, const at::Tensor& good, bool cyclic);

namespace kernels { // the body on CUDA: spng/kernels/transforms/interpolated_rows.cxx
void interpolate_rows(const at::Tensor& spectrum, const at::Tensor& good, bool cyclic);
} // namespace kernels

} // namespace spng
