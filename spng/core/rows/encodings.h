// SPDX-License-Identifier: Apache-2.0
#pragma once
// The samples of a NamedTensor as a node needs them, in whichever encoding they are. Masks are bool (view, channel,
// sample), or packed with 64 samples in a word.

#include "spng/core/tensor_set.h"

namespace spng {

/// Return the samples in a row of a mask, packed or not.
std::int64_t mask_samples(const NamedTensor& mask);

/// Return the mask as int64 (view, channel, word), packed by pack_ticks. Does not copy a packed mask.
/// @throws Error(Internal) if it is neither packed nor bool
at::Tensor packed_mask(const NamedTensor& mask);

/// Return the mask as bool (view, channel, sample). Returns the data of a tensor that is not packed.
at::Tensor unpacked_mask(const NamedTensor& mask);

/// Return all samples of a tensor: `data`, a packed mask, compacted rows or sparse samples. Does not copy `data`.
at::Tensor dense_tensor(const NamedTensor& tensor);

} // namespace spng
