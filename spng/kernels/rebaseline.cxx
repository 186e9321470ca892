// SPDX-License-Identifier: Apache-2.0
#include "spng/core/rows/compacted_rows.h"
#include "spng/core/tensor_checks.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/rows.h"
#include "spng/nodes/roi/compact_regions.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <limits>

namespace spng::kernels {

namespace {

template <class Real>
void launch_rows(const char* kernel, const at::Tensor& rows, const at::Tensor& mask,
                 std::int64_t shared_bytes, std::int64_t factor, at::Tensor& result) {
    launch(kernel, result.device(), blocks_for(rows.size(0), 1), shared_bytes, rows.const_data_ptr<Real>(),
           rows.stride(0), mask.const_data_ptr<std::int64_t>(), rows.size(0), rows.size(1), factor,
           result.mutable_data_ptr<Real>());
}

template <class Real>
void launch_bend(const char* kernel, const at::Tensor& mask, std::int64_t factor, at::Tensor& compacted) {
    const std::int64_t ticks = compacted.size(-1), rows = compacted.numel() / ticks;
    launch(kernel, compacted.device(), blocks_for(rows, warps_of_block), 0,
           mask.const_data_ptr<std::int64_t>(), rows, ticks, std::min(factor, ticks),
           compacted.mutable_data_ptr<Real>());
}

struct KernelNames {
    const char* float32;
    const char* float64;
};

/// Launch a kernel on rows with ROIs.
at::Tensor with_regions(KernelNames kernels, const at::Tensor& signal, const at::Tensor& mask,
                        std::int64_t factor, std::int64_t shared_bytes = 0) {
    at::Tensor result = at::empty(signal.sizes(), signal.options());
    if (result.numel() == 0) {
        return result;
    }
    constexpr std::int64_t max_ticks = std::numeric_limits<std::int32_t>::max();
    require_argument(signal.size(-1) <= max_ticks, "kernels", "ticks of a row", signal.size(-1),
                     "below 2^31");
    const at::Tensor input = rows_in_place(signal);
    const at::Tensor words = mask.contiguous();
    // A slice longer than the row gives the same result as one of the row's length.
    const std::int64_t ticks_of_slice = std::min(factor, signal.size(-1));
    signal.scalar_type() == at::kFloat
        ? launch_rows<float>(kernels.float32, input, words, shared_bytes, ticks_of_slice, result)
        : launch_rows<double>(kernels.float64, input, words, shared_bytes, ticks_of_slice, result);
    return result;
}

} // namespace

at::Tensor compact_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    const at::Tensor words = mask.contiguous();
    at::Tensor result = with_regions({"compact_regions_linear_float32", "compact_regions_linear_float64"},
                                     signal, words, factor);
    if (result.numel() > 0) {
        result.scalar_type() == at::kFloat
            ? launch_bend<float>("bend_negative_float32", words, factor, result)
            : launch_bend<double>("bend_negative_float64", words, factor, result);
    }
    return result;
}

at::Tensor compact_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return with_regions({"compact_regions_restored_float32", "compact_regions_restored_float64"}, signal,
                        mask, factor, reduction_bytes);
}

at::Tensor expand_rows(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor) {
    return with_regions({"expand_rows_float32", "expand_rows_float64"}, rows, mask, factor);
}

at::Tensor copy_compacted(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor) {
    return with_regions({"copy_compacted_float32", "copy_compacted_float64"}, rows, mask, factor);
}

} // namespace spng::kernels
