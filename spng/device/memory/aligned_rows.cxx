// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/aligned_rows.h"

#include <ATen/ops/empty.h>

namespace spng {

at::Tensor empty_with_aligned_rows(at::IntArrayRef sizes, const at::TensorOptions& options) {
    const auto unit = static_cast<std::int64_t>(64 / options.dtype().itemsize());
    auto padded = sizes.vec();
    padded.back() = (padded.back() + unit - 1) / unit * unit;
    return at::empty(padded, options).narrow(-1, 0, sizes.back());
}

} // namespace spng
