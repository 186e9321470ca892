// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums with small rounding errors, without float64 instructions in float32 kernels: these are 32 or 64 times
// slower on most GPUs. The sum of a float32 row is carried with its rounding error in a second float32
// (Knuth's two-sum), which together is nearly as precise as float64.

#include "spng/kernels/device.cuh"

namespace spng::kernels {

template <class Real>
struct RowSum;

template <>
struct RowSum<float> {
    float high = 0;
    float low = 0;

    SPNG_DEVICE void add(float value) { *this = combined(*this, {value, 0}); }

    /// Return the sum divided by a count below 2^24, precise to half a unit in the last place except for rare
    /// ties.
    SPNG_DEVICE float over(Index count) const {
        const float divisor = static_cast<float>(count);
        const float quotient = high / divisor;
        return quotient + (fmaf(-quotient, divisor, high) + low) / divisor;
    }

    static SPNG_DEVICE RowSum combined(const RowSum& left, const RowSum& right) {
        const float sum = left.high + right.high;
        const float part = sum - left.high;
        const float error = (left.high - (sum - part)) + (right.high - part);
        // The sum must be symmetric, so that both partners of a shuffle get the same bits.
        return {sum, (left.low + right.low) + error};
    }
};

template <>
struct RowSum<double> {
    double total = 0;

    SPNG_DEVICE void add(double value) { total += value; }
    SPNG_DEVICE double over(Index count) const { return total / static_cast<double>(count); }
    static SPNG_DEVICE RowSum combined(const RowSum& left, const RowSum& right) {
        return {left.total + right.total};
    }
};

} // namespace spng::kernels
