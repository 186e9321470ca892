// SPDX-License-Identifier: Apache-2.0
#pragma once
// Run kernels in several orders of their threads, and on a grid so small that blocks process several rows. All
// runs must give the same bytes.

#include "tests/kernels/emulated_device.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <cstring>

namespace spng::testing {

/// Return true if shape, type and every bit are equal; -0 differs from +0.
inline bool same_bytes(const at::Tensor& left, const at::Tensor& right) {
    const at::Tensor a = left.contiguous(), b = right.contiguous();
    return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
           (a.numel() == 0 || std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0);
}

/// Return the result of `operation` and check that it is the same in all orders.
template <class Operation>
at::Tensor emulated(Operation operation) {
    at::Tensor first;
    for (const std::uint64_t seed : {0, 1, 7}) {
        const emulation::EmulatedDevice device(seed, seed == 7 ? 1 : 1 << 30);
        const at::Tensor result = operation();
        if (seed == 0) {
            first = result;
        }
        EXPECT_TRUE(same_bytes(first, result)) << "order " << seed;
    }
    return first;
}

/// Row lengths at and around the borders of lanes, words, blocks and rows of a readout.
inline const std::int64_t row_lengths[] = {1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 6000, 6001};

} // namespace spng::testing
