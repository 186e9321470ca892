// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums that are precise, fast and equal on every vector width: float64 in eight interleaved partial sums. The
// compiler can keep this order in vector registers without permission to reorder. For use inside
// SPNG_MULTIVERSION kernels.

#include <cstdint>

namespace spng {

/// Return the sum of value(sample) over a row; `value` takes and returns double.
template <class Sample, class Value>
[[gnu::always_inline]] inline double lane_sum(const Sample* row, std::int64_t count, Value value) {
    constexpr int lanes = 8;
    double sums[lanes] = {};
    std::int64_t index = 0;
    for (; index + lanes <= count; index += lanes) {
        for (int lane = 0; lane < lanes; ++lane) {
            sums[lane] += value(static_cast<double>(row[index + lane]));
        }
    }
    for (int lane = 0; index < count; ++index, ++lane) {
        sums[lane] += value(static_cast<double>(row[index]));
    }
    double total = 0;
    for (int lane = 0; lane < lanes; ++lane) {
        total += sums[lane];
    }
    return total;
}

} // namespace spng
