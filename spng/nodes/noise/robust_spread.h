// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/sort.h>

#include <cstdint>

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

} // namespace spng
