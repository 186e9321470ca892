// SPDX-License-Identifier: Apache-2.0
#include "spng/core/rows/encodings.h"

#include "spng/core/rows/bit_ticks.h"
#include "spng/core/rows/compacted_rows.h"

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

at::Tensor dense_tensor(const NamedTensor& tensor) {
    if (tensor.sparse) {
        return dense(*tensor.sparse);
    }
    return tensor.compacted ? expand_rows(tensor.data, tensor.compacted->mask, tensor.compacted->factor)
                            : unpacked_mask(tensor);
}

} // namespace spng
