// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>

#include <cstdint>
#include <limits>

namespace spng {

/// Return half the distance between the 16 % and 84 % order statistics over the last axis, (..., 1): sigma of a
/// Gaussian, robust against signals. The ranks are floor(p (samples - 1)).
inline at::Tensor robust_spread(const at::Tensor& values) {
    const auto sorted = std::get<0>(at::sort(values, -1));
    const auto last = static_cast<double>(sorted.size(-1) - 1);
    const auto at_fraction = [&](double fraction) {
        return sorted.narrow(-1, static_cast<std::int64_t>(fraction * last), 1);
    };
    return (at_fraction(0.84) - at_fraction(0.16)) / 2;
}

/// The same over the values that count; 0 if none does.
/// @param left_out  bool, shape of `values`: values that do not count
inline at::Tensor robust_spread(const at::Tensor& values, const at::Tensor& left_out) {
    const double none = std::numeric_limits<double>::quiet_NaN(); // behind all others
    const auto sorted = std::get<0>(at::sort(at::where(left_out, none, values), -1));
    const auto last = left_out.logical_not().sum(-1, /*keepdim=*/true).sub(1).to(at::kDouble);
    const auto at_fraction = [&](double fraction) {
        return at::gather(sorted, -1, last.mul(fraction).to(at::kLong).clamp_min(0));
    };
    return at::where(last < 0, 0, (at_fraction(0.84) - at_fraction(0.16)) / 2);
}

} // namespace spng
