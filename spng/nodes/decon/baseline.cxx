// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/baseline.h"

#include "spng/core/row_chunks.h"
#include "spng/core/rows/multiversion.h"
#include "spng/core/selection.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace spng {

namespace {

/// Type of the difference. int16 is exact in any real type; float64 must not be rounded before the
/// subtraction.
template <class Sample, class Result>
using Difference = std::conditional_t<std::is_integral_v<Sample>, Result, std::common_type_t<Sample, Result>>;

/// Subtract the median of one row.
/// @param keys  buffer of `ticks` keys; not used if samples are their own keys
template <class Sample, class Result>
SPNG_MULTIVERSION void subtract_median(const Sample* row, std::int64_t ticks, OrderedKey<Sample>* keys,
                                       Result* result) {
    const OrderedKey<Sample>* sorted_as = keys;
    if constexpr (std::is_same_v<Sample, OrderedKey<Sample>>) {
        sorted_as = row;
    } else {
        for (std::int64_t tick = 0; tick < ticks; ++tick) {
            keys[tick] = ordered_key(row[tick]);
        }
    }
    const auto key = select_key(sorted_as, ticks, (ticks - 1) / 2, range_of_keys(sorted_as, ticks));
    using Wide = Difference<Sample, Result>;
    const auto median = static_cast<Wide>(sample_of_key(key));
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        result[tick] = static_cast<Result>(static_cast<Wide>(row[tick]) - median);
    }
}

template <class Sample, class Result>
void subtract_medians(const at::Tensor& waveforms, const bool* good, at::Tensor& result) {
    const std::int64_t ticks = waveforms.size(-1);
    const std::int64_t padded_ticks = result.size(-1);
    const auto* from = waveforms.const_data_ptr<Sample>();
    auto* to = result.mutable_data_ptr<Result>();
    at::parallel_for(0, waveforms.numel() / ticks, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<OrderedKey<Sample>> keys(std::is_same_v<Sample, OrderedKey<Sample>> ? 0 : ticks);
        for (std::int64_t row = begin; row < end; ++row) {
            Result* out = to + row * padded_ticks;
            if (good && !good[row]) {
                std::fill_n(out, padded_ticks, Result{0});
                continue;
            }
            subtract_median<Sample, Result>(from + row * ticks, ticks, keys.data(), out);
            std::fill_n(out + ticks, padded_ticks - ticks, Result{0});
        }
    });
}

template <class Sample>
void subtract_medians(const at::Tensor& waveforms, const bool* good, at::Tensor& result) {
    if (result.scalar_type() == at::kFloat) {
        subtract_medians<Sample, float>(waveforms, good, result);
    } else {
        subtract_medians<Sample, double>(waveforms, good, result);
    }
}

std::vector<std::int64_t> padded_shape(const at::Tensor& waveforms, std::int64_t padded_ticks) {
    auto shape = waveforms.sizes().vec();
    shape.back() = padded_ticks;
    return shape;
}

at::Tensor subtract_baseline_and_pad_cpu(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                         at::ScalarType type, const std::optional<at::Tensor>& good) {
    const auto shape = padded_shape(waveforms, padded_ticks);
    if (waveforms.numel() == 0) {
        return at::zeros(shape, waveforms.options().dtype(type));
    }
    const auto input = waveforms.contiguous();
    const auto flags = good ? good->contiguous() : at::Tensor();
    const bool* good_rows = good ? flags.const_data_ptr<bool>() : nullptr;
    auto result = at::empty(shape, waveforms.options().dtype(type));
    switch (waveforms.scalar_type()) {
    case at::kShort:
        subtract_medians<std::int16_t>(input, good_rows, result);
        break;
    case at::kFloat:
        subtract_medians<float>(input, good_rows, result);
        break;
    default:
        subtract_medians<double>(input, good_rows, result);
        break;
    }
    return result;
}

} // namespace

at::Tensor subtract_baseline_and_pad_composite(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                               at::ScalarType type, const std::optional<at::Tensor>& good) {
    if (waveforms.numel() == 0) {
        return at::zeros(padded_shape(waveforms, padded_ticks), waveforms.options().dtype(type));
    }
    const std::int64_t ticks = waveforms.size(-1);
    const auto wide_type = waveforms.scalar_type() == at::kDouble ? at::kDouble : type;
    const auto rows = as_rows(waveforms);
    const auto flags = good ? good->reshape({-1, 1}) : at::Tensor();
    auto result = at::zeros(padded_shape(waveforms, padded_ticks), waveforms.options().dtype(type));
    const auto result_rows = as_rows(result).narrow(-1, 0, ticks);
    const std::int64_t bytes_of_row = 4 * ticks * static_cast<std::int64_t>(c10::elementSize(wide_type));
    for_row_chunks(rows.size(0), bytes_of_row, [&](std::int64_t first, std::int64_t count) {
        const auto wide = rows.narrow(0, first, count).to(wide_type);
        auto difference = wide.sub(std::get<0>(wide.median(-1, /*keepdim=*/true))).to(type);
        if (good) {
            difference = at::where(flags.narrow(0, first, count), difference, 0);
        }
        result_rows.narrow(0, first, count).copy_(difference);
    });
    return result;
}

at::Tensor subtract_baseline_and_pad(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                     at::ScalarType type, const std::optional<at::Tensor>& good) {
    const char* name = "subtract_baseline_and_pad";
    require_waveforms(name, waveforms, good, 1);
    require_argument(padded_ticks >= waveforms.size(-1), name, "padded length", padded_ticks,
                     "at least " + std::to_string(waveforms.size(-1)) + " ticks");
    require_argument(type == at::kFloat || type == at::kDouble, name, "type of the result",
                     static_cast<std::int64_t>(type), "float32 (6) or float64 (7)");
    return waveforms.is_cpu() ? subtract_baseline_and_pad_cpu(waveforms, padded_ticks, type, good)
                              : subtract_baseline_and_pad_composite(waveforms, padded_ticks, type, good);
}

} // namespace spng
