// SPDX-License-Identifier: Apache-2.0
// Kernels of the rebaseline and of running sums.

#include "spng/core/rows/bit_ticks.h"
#include "spng/core/rows/compacted_rows.h"
#include "spng/nodes/dnn/roi_features.h"
#include "spng/nodes/roi/compact_regions.h"
#include "spng/nodes/roi/long_pulses.h"
#include "spng/nodes/roi/rebaseline.h"
#include "tests/kernels/kernel_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spng::testing {
namespace {

/// Return the mean over eight ticks from `first` on, or 0 with `exists` false beyond the row.
template <class Real>
Real level_at(const Real* x, std::int64_t first, std::int64_t ticks, bool& exists) {
    exists = first >= 0 && first + 8 <= ticks;
    Real sum = 0;
    for (std::int64_t k = first; exists && k < first + 8; ++k) {
        sum += x[k];
    }
    return sum / 8;
}

/// Apply the definition of spng/nodes/roi/rebaseline.h tick by tick, rounding products and sums once as the kernel does.
template <class Real>
at::Tensor linear_by_definition(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    const at::Tensor in = signal.contiguous(), inside = mask.contiguous();
    at::Tensor result = at::zeros(signal.sizes(), signal.options());
    const std::int64_t ticks = signal.size(-1), slices = mask.size(-1);
    for (std::int64_t row = 0; row < signal.numel() / ticks; ++row) {
        const Real* x = in.const_data_ptr<Real>() + row * ticks;
        const bool* open = inside.const_data_ptr<bool>() + row * slices;
        const auto is_inside = [&](std::int64_t k) { return k >= 0 && k < ticks && open[k / factor]; };
        Real* y = result.mutable_data_ptr<Real>() + row * ticks;
        for (std::int64_t first = 0; first < ticks; ++first) {
            if (!is_inside(first) || is_inside(first - 1)) {
                continue;
            }
            std::int64_t past = first + 1, before = 0, after = 0;
            while (is_inside(past)) {
                ++past;
            }
            while (before < 12 && !is_inside(first - 1 - before)) {
                ++before;
            }
            while (after < 12 && !is_inside(past + after)) {
                ++after;
            }
            before /= 2, after /= 2;
            bool has_left = false, has_right = false;
            const Real left = level_at(x, first - before - 4, ticks, has_left);
            const Real right = level_at(x, past + after - 4, ticks, has_right);
            Real start = has_left ? left : right, slope = 0;
            if (has_left && has_right) {
                slope = (right - left) / static_cast<Real>(past - first + before + after);
                start = std::fma(slope, static_cast<Real>(before) + Real(0.5), left);
            }
            for (std::int64_t k = first; k < past; ++k) {
                y[k] = x[k] - std::fma(slope, static_cast<Real>(k - first), start);
            }
            const auto sum = static_cast<Real>(std::accumulate(y + first, y + past, 0.0));
            if (sum < 0) {
                const std::int64_t lowest = std::min_element(y + first, y + past) - y;
                const Real part = 4 * sum / (y[lowest] * static_cast<Real>(past - first + 1));
                const Real bend = y[lowest] * std::min(Real(1), part);
                for (std::int64_t k = first; k < past; ++k) {
                    const std::int64_t from_end = k <= lowest ? k - first + 1 : past - k;
                    const std::int64_t side = k <= lowest ? lowest - first + 1 : past - lowest;
                    y[k] -= bend * (static_cast<Real>(from_end) / static_cast<Real>(side));
                }
            }
        }
    }
    return result;
}

at::Tensor region_mask(double density, at::IntArrayRef shape) {
    // Long runs with few borders.
    return (at::rand(shape) < density).cumsum(-1).remainder(2).to(at::kBool);
}

/// Return the rows with zeros outside, from the compacted rows that `kernel` makes.
template <class Kernel>
at::Tensor expanded(Kernel kernel, const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    const at::Tensor packed = pack_ticks(mask);
    return emulated([&] {
        const at::Tensor compacted = kernel(signal, packed, factor);
        return kernels::expand_rows(kernels::copy_compacted(compacted, packed, factor), packed, factor);
    });
}

at::Tensor linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return expanded(kernels::compact_regions_linear, signal, mask, factor);
}

at::Tensor restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return expanded(kernels::compact_regions_restored, signal, mask, factor);
}

TEST(RebaselineKernel, LinearEqualsItsDefinitionToTheByte) {
    at::manual_seed(1);
    for (const std::int64_t ticks : row_lengths) {
        for (const std::int64_t factor : {1, 4, 7, 256, 1000}) {
            const std::int64_t slices = (ticks + factor - 1) / factor;
            for (const double density : {0.0, 0.02, 0.5}) {
                const at::Tensor mask = region_mask(density, {2, slices});
                const at::Tensor signal = at::randn({2, ticks}) * 1000;
                const at::Tensor seen = linear(signal, mask, factor);
                EXPECT_TRUE(same_bytes(seen, linear_by_definition<float>(signal, mask, factor)))
                    << ticks << ' ' << factor;
                // The CPU's operator rounds the line twice on processors without fused multiplication.
                const at::Tensor cpu = apply_regions_linear(signal, pack_ticks(mask), factor);
                EXPECT_LE((seen - cpu).abs().max().item<double>(), 1e-3);
                EXPECT_TRUE(same_bytes(seen == 0, cpu == 0));
            }
        }
    }
}

TEST(RebaselineKernel, LinearOfWholeRowsEmptyMasksAndFloat64) {
    at::manual_seed(2);
    const at::Tensor signal =
        at::randn({3, 6000}, at::kDouble) + 1; // sums above 0: the order of a sum has no effect
    for (const bool open : {false, true}) {
        const at::Tensor mask = at::full({3, 1500}, open, at::kBool);
        EXPECT_TRUE(same_bytes(linear(signal, mask, 4), linear_by_definition<double>(signal, mask, 4)));
    }
}

TEST(RebaselineKernel, SamplesInsideFollowEachOther) {
    const at::Tensor signal =
        at::tensor({9.f, 2.f, 10.f, 6.f, 9.f, 0.f, 9.f}).view({1, 7});                     // mean outside: 5
    const at::Tensor mask = at::tensor({0, 1, 0, 1}, at::kInt).to(at::kBool).view({1, 4}); // ticks 2, 3, 6
    const emulation::EmulatedDevice device(0);
    const at::Tensor seen = kernels::compact_regions_restored(signal, pack_ticks(mask), 2);
    EXPECT_TRUE(seen.narrow(1, 0, 3).equal(at::tensor({5.f, 1.f, 4.f}).view({1, 3})));
}

/// Return the mean of the ticks outside, in float64.
at::Tensor restored_by_definition(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    const at::Tensor inside = mask.repeat_interleave(factor, -1).narrow(-1, 0, signal.size(-1));
    const at::Tensor outside = inside.logical_not().to(at::kDouble);
    const at::Tensor mean =
        (signal.to(at::kDouble) * outside).sum(-1, true) / outside.sum(-1, true).clamp_min(1);
    return (signal - mean.to(signal.scalar_type())) * inside;
}

TEST(RebaselineKernel, RestoredHasTheMeanOutside) {
    at::manual_seed(3);
    for (const std::int64_t ticks : row_lengths) {
        for (const auto type : {at::kFloat, at::kDouble}) {
            const at::Tensor signal = (at::randn({2, ticks}, at::kDouble) * 300 + 77).to(type);
            for (const double density : {0.0, 0.05, 0.5}) {
                const at::Tensor mask = region_mask(density, {2, (ticks + 3) / 4});
                const at::Tensor seen = restored(signal, mask, 4);
                // One or two steps of the mean, which is far below 1000.
                const double step = type == at::kFloat ? 1.3e-4 : 1e-11;
                EXPECT_LE((seen - restored_by_definition(signal, mask, 4)).abs().max().item<double>(), step)
                    << ticks;
                EXPECT_LE(
                    (seen - apply_regions_restored(signal, pack_ticks(mask), 4)).abs().max().item<double>(),
                    step)
                    << ticks;
            }
            const at::Tensor all = at::ones({2, (ticks + 3) / 4}, at::kBool);
            EXPECT_TRUE(same_bytes(restored(signal, all, 4), signal));
        }
    }
}

TEST(RebaselineKernel, SeparateRows) {
    at::manual_seed(7);
    constexpr std::int64_t ticks = 301;
    const at::Tensor mask = region_mask(0.1, {2, 3, 76});
    // A crop in time, which needs no copy; every second tick; planes in another order.
    const at::Tensor wide = at::randn({2, 3, 350}) * 100;
    for (const at::Tensor& signal : {wide.narrow(2, 0, ticks), wide.narrow(2, 17, ticks),
                                     (at::randn({2, 3, 2 * ticks}) * 100).slice(2, 0, 2 * ticks, 2),
                                     (at::randn({3, 2, ticks}) * 100).transpose(0, 1)}) {
        EXPECT_TRUE(same_bytes(linear(signal, mask, 4), linear_by_definition<float>(signal, mask, 4)));
        EXPECT_TRUE(same_bytes(restored(signal, mask, 4), restored(signal.contiguous(), mask, 4)));
    }
}

TEST(RebaselineKernel, RowsOfManyWords) {
    at::manual_seed(4);
    const std::int64_t ticks = 6144 * 64 + 1;
    const at::Tensor signal = at::randn({1, ticks});
    const at::Tensor mask = region_mask(0.001, {1, ticks}), packed = pack_ticks(mask);
    const emulation::EmulatedDevice device(0);
    const auto expand = [&](const at::Tensor& rows) { return kernels::expand_rows(rows, packed, 1); };
    EXPECT_TRUE(same_bytes(expand(kernels::compact_regions_linear(signal, packed, 1)),
                           linear_by_definition<float>(signal, mask, 1)));
    const at::Tensor level = apply_regions_restored(signal, packed, 1);
    EXPECT_LE(
        (expand(kernels::compact_regions_restored(signal, packed, 1)) - level).abs().max().item<double>(),
        1e-6);
}

TEST(RebaselineKernel, NothingToDo) {
    const emulation::EmulatedDevice device(0);
    EXPECT_EQ(kernels::compact_regions_linear(at::zeros({0, 8}), at::zeros({0, 1}, at::kLong), 4).numel(), 0);
    EXPECT_EQ(kernels::expand_rows(at::zeros({2, 0}), at::zeros({2, 0}, at::kLong), 4).numel(), 0);
}

TEST(RunningSumKernel, AgreesWithTheCpu) {
    at::manual_seed(5);
    const std::vector<std::int64_t> samples{1, 3, 51, 17};
    for (const std::int64_t ticks : {1, 6, 7, 63, 64, 1500, 1791, 1792, 1793, 6001}) {
        const at::Tensor waveform = at::randn({2, ticks}) * 200 + 30;
        const at::Tensor pedestal = at::tensor({25.f, 31.f}, at::kFloat);
        const at::Tensor rms = at::tensor({190.f, 0.f}, at::kFloat);
        const at::Tensor seen =
            emulated([&] { return kernels::clipped_running_sum(waveform, pedestal, rms, 4.0, samples); });
        const at::Tensor expected = clipped_running_sum(waveform, pedestal, rms, 4.0, samples);
        // Up to 51 summands of at most 4, each addition rounds at 2^-24 of the sum; the RMS of a sum is 1
        // to 7.
        EXPECT_LE((seen - expected).abs().max().item<double>(), 3e-5) << ticks;
        EXPECT_TRUE(seen.select(1, 1).equal(at::zeros({4, ticks})));
    }
    const at::Tensor waveform = at::randn({2, 700}, at::kDouble);
    const at::Tensor zero = at::zeros({2}, at::kDouble), one = at::ones({2}, at::kDouble);
    const at::Tensor seen =
        emulated([&] { return kernels::clipped_running_sum(waveform, zero, one, 3.0, {51}); });
    EXPECT_LE((seen - clipped_running_sum(waveform, zero, one, 3.0, {51})).abs().max().item<double>(), 1e-12);
}

TEST(RunningSumKernel, SumsTooLongForSharedMemory) {
    at::manual_seed(6);
    const at::Tensor waveform = at::randn({1, 300});
    const at::Tensor zero = at::zeros({1}), one = at::ones({1});
    for (const std::int64_t longest : {301, 8705, 8707}) {
        const std::vector<std::int64_t> samples{longest, 5};
        const at::Tensor seen =
            emulated([&] { return kernels::clipped_running_sum(waveform, zero, one, 2.0, samples); });
        EXPECT_LE((seen - clipped_running_sum(waveform, zero, one, 2.0, samples)).abs().max().item<double>(),
                  1e-4);
    }
}

TEST(RunningSumKernel, MoreLengthsThanOneLaunchTakes) {
    at::manual_seed(7);
    const at::Tensor waveform = at::randn({2, 90});
    const at::Tensor zero = at::zeros({2}), one = at::ones({2});
    const std::vector<std::int64_t> samples{1, 3, 5, 7, 9, 11, 13, 15, 17, 19};
    const at::Tensor seen =
        emulated([&] { return kernels::clipped_running_sum(waveform, zero, one, 2.0, samples); });
    EXPECT_LE((seen - clipped_running_sum(waveform, zero, one, 2.0, samples)).abs().max().item<double>(),
              1e-5);
}

TEST(SumOfNeighboursKernel, IsTheCpusToTheByte) {
    at::manual_seed(8);
    for (const auto type : {at::kFloat, at::kDouble}) {
        for (const std::int64_t channels : {1, 2, 3, 7}) {
            for (const bool cyclic : {false, true}) {
                const at::Tensor waveform = at::randn({2, channels, 300}, type);
                const at::Tensor seen =
                    emulated([&] { return kernels::sum_of_neighbours(waveform, cyclic); });
                EXPECT_TRUE(same_bytes(seen, sum_of_neighbours(waveform, cyclic))) << channels;
            }
        }
    }
    EXPECT_EQ(kernels::sum_of_neighbours(at::zeros({2, 0, 5}), true).numel(), 0);
}

TEST(FeaturesKernel, IsTheCpusToTheByte) {
    at::manual_seed(9);
    for (const std::int64_t ticks : {1, 63, 64, 65, 1500}) {
        const at::Tensor mask = pack_ticks(at::rand({2, 5, ticks}) < 0.4);
        for (const auto type : {at::kFloat, at::kDouble}) {
            const at::Tensor charge =
                at::randn({2, 5, ticks + 6}, at::kDouble).mul(4000).to(type).narrow(2, 3, ticks);
            const at::Tensor divisor = at::rand({1, 2, 5}, type) + 1;
            for (const auto& unit : {std::optional<at::Tensor>(), std::optional(divisor)}) {
                for (const double offset : {0.0, 0.25}) {
                    const std::vector<at::Tensor> features{mask, charge, mask};
                    const at::Tensor seen = emulated(
                        [&] { return kernels::stack_features(features, ticks, 1.0 / 4000, offset, unit); });
                    EXPECT_TRUE(same_bytes(seen, stack_features(features, ticks, 1.0 / 4000, offset,
                                                                unit.value_or(at::Tensor()))))
                        << ticks;
                }
            }
        }
    }
    // Types that one kernel does not take.
    const std::vector<at::Tensor> mixed{at::rand({1, 2, 9}), at::rand({1, 2, 9}, at::kDouble)};
    EXPECT_TRUE(same_bytes(kernels::stack_features(mixed, 9, 0.5, 0, {}), stack_features(mixed, 9, 0.5, 0)));
}

} // namespace
} // namespace spng::testing
