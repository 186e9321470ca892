// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/mask_tensor.h"

#include "spng/core/bit_words.h"
#include "spng/nodes/coincidence/bit_ticks.h"

namespace spng {

std::int64_t mask_samples(const NamedTensor& mask) {
    return mask.packed_samples > 0 ? mask.packed_samples : mask.data.size(-1);
}

at::Tensor packed_mask(const NamedTensor& mask) {
    return mask.packed_samples > 0 ? mask.data : pack_ticks(mask.data);
}

at::Tensor unpacked_mask(const NamedTensor& mask) {
    return mask.packed_samples > 0 ? unpack_ticks(mask.data, mask.packed_samples) : mask.data;
}

PlannedTensor planned_mask(const PlannedCall& call, PlannedTensor like) {
    like.block = call.scratch(MemoryUse::masks, like.views * like.channels * words_for(like.ticks) * 8);
    return like;
}

} // namespace spng
