// SPDX-License-Identifier: Apache-2.0
#include "spng/core/bit_words.h"
#include "spng/core/tensor_checks.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/operators.h"
#include "spng/kernels/rows.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <limits>

namespace spng::kernels {

namespace {

template <class Real>
void apply_regions(const char* kernel, const at::Tensor& rows, const at::Tensor& mask,
                   const at::Tensor& packed, std::int64_t shared_bytes, std::int64_t factor,
                   at::Tensor& result) {
    launch(
        kernel, result.device(), blocks_for(rows.size(0), 1), shared_bytes, rows.const_data_ptr<Real>(),
        mask.const_data_ptr<bool>(),
        packed.defined() ? packed.const_data_ptr<std::int64_t>() : static_cast<const std::int64_t*>(nullptr),
        rows.size(0), rows.stride(0), rows.size(1), mask.size(-1), factor, result.mutable_data_ptr<Real>());
}

struct KernelNames {
    const char* float32;
    const char* float64;
};

/// @param other_bytes  shared memory besides the packed mask of a row
at::Tensor apply_regions(KernelNames kernels, const at::Tensor& signal, const at::Tensor& mask,
                         std::int64_t factor, std::int64_t other_bytes) {
    at::Tensor result = at::empty(signal.sizes(), signal.options());
    if (result.numel() == 0) {
        return result;
    }
    constexpr std::int64_t max_ticks = std::numeric_limits<std::int32_t>::max();
    require_argument(signal.size(-1) <= max_ticks, "kernels", "ticks of a row", signal.size(-1),
                     "below 2^31");
    const at::Tensor input = rows_in_place(signal);
    const at::Tensor inside = mask.contiguous();
    const auto mask_bytes = words_for(mask.size(-1)) * static_cast<std::int64_t>(sizeof(std::uint64_t));
    const bool staged = mask_bytes + other_bytes <= max_shared_bytes;
    // Rows of more than 390,000 slices are packed by a separate launch.
    const at::Tensor packed = staged ? at::Tensor() : pack_ticks(inside);
    const std::int64_t shared_bytes = other_bytes + (staged ? mask_bytes : 0);
    // A slice longer than the row gives the same result as one of the row's length.
    const std::int64_t ticks_of_slice = std::min(factor, signal.size(-1));
    signal.scalar_type() == at::kFloat
        ? apply_regions<float>(kernels.float32, input, inside, packed, shared_bytes, ticks_of_slice, result)
        : apply_regions<double>(kernels.float64, input, inside, packed, shared_bytes, ticks_of_slice, result);
    return result;
}

} // namespace

at::Tensor apply_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return apply_regions({"apply_regions_linear_float32", "apply_regions_linear_float64"}, signal, mask,
                         factor, 0);
}

at::Tensor apply_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return apply_regions({"apply_regions_restored_float32", "apply_regions_restored_float64"}, signal, mask,
                         factor, reduction_bytes);
}

} // namespace spng::kernels
