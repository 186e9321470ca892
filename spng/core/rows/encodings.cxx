// SPDX-License-Identifier: Apache-2.0
#include "spng/core/rows/encodings.h"

#include "spng/core/rows/bit_ticks.h"
#include "spng/core/rows/compacted_rows.h"

namespace spng {

std::int64_t mask_samples(const NamedTensor& mask) {
    return mask.packed() ? mask.packed()->samples : mask.data.size(-1);
}

at::Tensor packed_mask(const NamedTensor& mask) {
    return mask.packed() ? mask.data : pack_ticks(mask.data);
}

at::Tensor unpacked_mask(const NamedTensor& mask) {
    return mask.packed() ? unpack_ticks(mask.data, mask.packed()->samples) : mask.data;
}

at::Tensor dense_tensor(const NamedTensor& tensor) {
    if (const auto* sparse = tensor.sparse()) {
        return dense(*sparse);
    }
    if (const auto* compacted = tensor.compacted()) {
        return expand_rows(tensor.data, compacted->mask, compacted->factor);
    }
    return unpacked_mask(tensor);
}

} // namespace spng
