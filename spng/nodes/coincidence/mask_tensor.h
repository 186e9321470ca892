// SPDX-License-Identifier: Apache-2.0
#pragma once
// Masks on the edges of the graph: bool (view, channel, sample), or packed with 64 samples in a word.

#include "spng/core/tensor_set.h"
#include "spng/graph/memory_rule.h"

namespace spng {

/// Return the samples in a row of a mask, packed or not.
std::int64_t mask_samples(const NamedTensor& mask);

/// Return the mask as int64 (view, channel, word), packed by pack_ticks. Does not copy a packed mask.
/// @throws Error(Internal) if it is neither packed nor bool
at::Tensor packed_mask(const NamedTensor& mask);

/// Return the mask as bool (view, channel, sample). Returns the data of a tensor that is not packed.
at::Tensor unpacked_mask(const NamedTensor& mask);

/// Plan a packed mask of the shape of `like`.
PlannedTensor planned_mask(const PlannedCall& call, PlannedTensor like);

} // namespace spng
