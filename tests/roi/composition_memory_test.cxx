// SPDX-License-Identifier: Apache-2.0
// Compositions of ATen operations bound their temporaries, and their chunks give the results of the CPU's bodies.

#include "spng/core/row_chunks.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/instrument/meter/allocation.h"
#include "spng/nodes/decon/baseline.h"
#include "spng/nodes/noise/coherent_noise.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace spng {
namespace {

using instrument::AllocationScope;

/// Call a composition and require its temporaries to stay within the limit.
at::Tensor within(std::int64_t limit, const std::function<at::Tensor()>& composition) {
    instrument::count_cpu_allocations();
    const AllocationScope scope(instrument::AllocationScope::Reports::none);
    const at::Tensor result = composition();
    const std::int64_t temporaries = scope.cpu().peak - static_cast<std::int64_t>(result.nbytes());
    EXPECT_LE(temporaries, limit);
    EXPECT_GT(temporaries, limit / 8); // it was measured, and chunks are not too small
    return result;
}

TEST(CompositionMemory, Baseline) {
    constexpr std::int64_t rows = 1601, ticks = 4503; // as in two views of ProtoDUNE-HD, in odd numbers
    const auto adc = at::randint(1000, 3000, {rows, ticks}, at::kShort);
    const auto good = at::arange(rows).remainder(17).ne(0);
    const auto subtracted = within(composition_bytes, [&] {
        return subtract_baseline_and_pad_composite(adc, ticks + 5, at::kFloat, good);
    });
    EXPECT_TRUE(subtracted.equal(subtract_baseline_and_pad(adc, ticks + 5, at::kFloat, good)));
}

TEST(CompositionMemory, CoherentNoise) {
    constexpr std::int64_t groups = 40, members = 40, ticks = 1501;
    const auto adc = at::randn({groups * members, ticks}).mul(10);
    const auto good = at::ones({groups * members}, at::kBool);
    const auto members_of = at::arange(groups * members).view({groups, members});
    const CoherentNoiseRule rule;
    const auto cleaned = within(
        std::max(composition_bytes, coherent_noise_buffers * static_cast<std::int64_t>(adc.nbytes())), [&] {
            return remove_coherent_noise_composite(
                adc, good, members_of, at::zeros({groups * members, 1, 2}, at::kInt), rule.threshold,
                rule.common_threshold, rule.half_smoothing, rule.padding, rule.min_fraction, rule.max_noise);
        });
    EXPECT_TRUE(cleaned.allclose(remove_coherent_noise(adc, good, members_of, rule), 1e-4, 1e-3));
}

} // namespace
} // namespace spng
