// SPDX-License-Identifier: Apache-2.0
#include "spng/core/sparse_samples.h"

#include <ATen/ops/zeros.h>

#include <cstring>

namespace spng {

at::Tensor dense(const SparseSamples& sparse) {
    at::Tensor result = at::zeros({sparse.rows, sparse.ticks}, sparse.values.options());
    const auto item = static_cast<std::int64_t>(result.element_size());
    auto* const to = static_cast<std::uint8_t*>(result.mutable_data_ptr());
    const auto* from = static_cast<const std::uint8_t*>(sparse.values.const_data_ptr());
    const auto* run = sparse.runs.const_data_ptr<std::int32_t>();
    for (std::int64_t i = 0; i < sparse.runs.size(0); ++i, run += 3) {
        const auto bytes = static_cast<std::size_t>((run[2] - run[1]) * item);
        std::memcpy(to + (run[0] * sparse.ticks + run[1]) * item, from, bytes);
        from += bytes;
    }
    return result;
}

} // namespace spng
