// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/aligned_rows.h"

#include "spng/core/tensor_checks.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>

namespace spng {

namespace {

/// Return the length of a row with the items after it.
std::int64_t padded(std::int64_t length, std::size_t item_bytes) {
    const auto unit = static_cast<std::int64_t>(64 / item_bytes);
    return (length + unit - 1) / unit * unit;
}

} // namespace

at::Tensor empty_with_aligned_rows(at::IntArrayRef sizes, const at::TensorOptions& options) {
    require_argument(!sizes.empty(), "empty_with_aligned_rows", "axes", 0, "at least one");
    auto shape = sizes.vec();
    shape.back() = padded(sizes.back(), options.dtype().itemsize());
    return at::empty(shape, options).narrow(-1, 0, sizes.back());
}

at::Tensor uploaded_with_aligned_rows(const at::Tensor& host, c10::Device device) {
    const std::int64_t length = host.size(-1);
    const std::int64_t after = padded(length, host.element_size()) - length;
    return at::constant_pad_nd(host, {0, after}).to(device).narrow(-1, 0, length);
}

} // namespace spng
