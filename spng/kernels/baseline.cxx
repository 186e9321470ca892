// SPDX-License-Identifier: Apache-2.0
#include "spng/kernels/launch.h"
#include "spng/kernels/operators.h"
#include "spng/kernels/rows.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <type_traits>

namespace spng::kernels {

namespace {

template <class Sample, class Result>
constexpr const char* kernel_name() {
    constexpr bool wide = std::is_same_v<Result, double>;
    if constexpr (std::is_same_v<Sample, std::int16_t>) {
        return wide ? "subtract_baseline_int16_float64" : "subtract_baseline_int16_float32";
    } else if constexpr (std::is_same_v<Sample, float>) {
        return wide ? "subtract_baseline_float32_float64" : "subtract_baseline_float32_float32";
    } else {
        return wide ? "subtract_baseline_float64_float64" : "subtract_baseline_float64_float32";
    }
}

template <class Sample, class Result>
void subtract(const Rows& rows, const bool* good, at::Tensor& result) {
    launch(kernel_name<Sample, Result>(), result.device(), blocks_for(rows.rows, 1),
           reduction_bytes + rows.staged_bytes, rows.data<Sample>(), rows.rows, rows.row_stride, rows.ticks,
           rows.tick_stride, result.size(-1), good, static_cast<int>(rows.staged),
           result.mutable_data_ptr<Result>());
}

template <class Sample>
void subtract(const Rows& rows, const bool* good, at::Tensor& result) {
    result.scalar_type() == at::kFloat ? subtract<Sample, float>(rows, good, result)
                                       : subtract<Sample, double>(rows, good, result);
}

} // namespace

at::Tensor subtract_baseline_and_pad(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                     at::ScalarType type, const std::optional<at::Tensor>& good) {
    auto shape = waveforms.sizes().vec();
    shape.back() = padded_ticks;
    const auto options = waveforms.options().dtype(type);
    if (waveforms.numel() == 0) {
        return at::zeros(shape, options);
    }
    at::Tensor result = at::empty(shape, options);
    const Rows rows = rows_of(waveforms, reduction_bytes);
    const at::Tensor flags = good ? good->contiguous() : at::Tensor();
    const bool* good_rows = good ? flags.const_data_ptr<bool>() : nullptr;
    switch (waveforms.scalar_type()) {
    case at::kShort:
        subtract<std::int16_t>(rows, good_rows, result);
        break;
    case at::kFloat:
        subtract<float>(rows, good_rows, result);
        break;
    default:
        subtract<double>(rows, good_rows, result);
        break;
    }
    return result;
}

} // namespace spng::kernels
