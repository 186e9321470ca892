// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace spng {

/// Copy the rows and combine each with the rows of the neighbouring channels of its view.
/// @param rows     (view, channel, sample)
/// @param cyclic   true: the last channel of a view is next to its first (wrapped planes)
/// @param combine  (at::Tensor into, const at::Tensor& from): in-place operation on ranges of channels
template <class Combine>
at::Tensor combined_with_neighbours(const at::Tensor& rows, bool cyclic, Combine combine) {
    at::Tensor combined = rows.clone(at::MemoryFormat::Contiguous);
    const std::int64_t last = rows.size(1) - 1;
    if (last > 0) {
        combine(combined.narrow(1, 1, last), rows.narrow(1, 0, last));
        combine(combined.narrow(1, 0, last), rows.narrow(1, 1, last));
        if (cyclic) {
            combine(combined.narrow(1, 0, 1), rows.narrow(1, last, 1));
            combine(combined.narrow(1, last, 1), rows.narrow(1, 0, 1));
        }
    }
    return combined;
}

} // namespace spng
