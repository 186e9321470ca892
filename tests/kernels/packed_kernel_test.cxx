// SPDX-License-Identifier: Apache-2.0
// Kernels on packed ticks. Results are bits, so all are exact.

#include "spng/kernels/operators.h"
#include "spng/nodes/coincidence/bit_ticks.h"
#include "spng/nodes/coincidence/coincidence.h"
#include "spng/nodes/roi/region_growth.h"
#include "tests/kernels/kernel_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <limits>

namespace spng::testing {
namespace {

at::Tensor random_mask(double density, at::IntArrayRef shape) {
    return at::rand(shape) < density;
}

TEST(PackedKernel, PackAndUnpack) {
    at::manual_seed(1);
    for (const std::int64_t ticks : row_lengths) {
        for (const double density : {0.0, 0.3, 1.0}) {
            const at::Tensor mask = random_mask(density, {3, ticks});
            const at::Tensor packed = emulated([&] { return kernels::pack_ticks(mask); });
            EXPECT_TRUE(same_bytes(packed, pack_ticks(mask))) << ticks;
            EXPECT_TRUE(same_bytes(emulated([&] { return kernels::unpack_ticks(packed, ticks); }), mask))
                << ticks;
        }
    }
    const at::Tensor apart = random_mask(0.5, {4, 130}).transpose(0, 1);
    EXPECT_TRUE(same_bytes(emulated([&] { return kernels::pack_ticks(apart); }), pack_ticks(apart)));
    EXPECT_EQ(kernels::pack_ticks(at::zeros({3, 0}, at::kBool)).numel(), 0);
    EXPECT_EQ(kernels::unpack_ticks(at::zeros({3, 0}, at::kLong), 0).numel(), 0);
}

TEST(PackedKernel, Above) {
    at::manual_seed(2);
    for (const auto type : {at::kFloat, at::kDouble}) {
        for (const std::int64_t ticks : {1, 63, 64, 65, 1500}) {
            const at::Tensor waveform = at::rand({2, 5, ticks + 20}, type).narrow(2, 10, ticks);
            // Thresholds with ties: sample and threshold are multiples of an eighth.
            const at::Tensor coarse = (waveform * 8).round() / 8;
            Threshold threshold{.rms = (at::rand({2, 5}, type) * 8).round() / 8, .factor = 0.5};
            const auto check = [&](const at::Tensor& samples) {
                const at::Tensor seen = emulated([&] {
                    return kernels::pack_above(samples, threshold.rms, threshold.factor, threshold.pedestal,
                                               threshold.nominal, threshold.good);
                });
                EXPECT_TRUE(same_bytes(seen, pack_above(samples, threshold))) << ticks;
            };
            check(waveform);
            check(coarse);
            threshold.pedestal = at::rand({2, 5}, type) - 0.3;
            threshold.nominal = 0.1;
            threshold.factor = 0.7;
            threshold.good = random_mask(0.6, {2, 5});
            check(waveform);
            check(waveform.transpose(0, 1).contiguous().transpose(0, 1));
        }
    }
}

TEST(PackedKernel, RegionsGrow) {
    at::manual_seed(3);
    for (const std::int64_t ticks : {1, 2, 63, 64, 65, 127, 128, 1500, 2047, 2048, 2049, 6000, 6001}) {
        for (const auto& [seed_density, level_density] :
             {std::pair{0.0, 0.5}, {0.01, 0.9}, {0.02, 0.99}, {0.3, 0.3}, {1.0, 1.0}, {0.001, 1.0}}) {
            const at::Tensor seeds = pack_ticks(random_mask(seed_density, {5, ticks}));
            const at::Tensor level = pack_ticks(random_mask(level_density, {5, ticks}));
            for (const auto& [before, after] :
                 {std::pair{0, 0}, {1, 1}, {3, 70}, {64, 0}, {2500, 63}, {0, 100000}}) {
                const at::Tensor seen =
                    emulated([&] { return kernels::grow_regions(seeds, level, ticks, before, after); });
                const at::Tensor expected = grow_packed_regions(seeds, level, ticks, before, after);
                EXPECT_TRUE(same_bytes(seen, expected))
                    << ticks << ' ' << seed_density << ' ' << level_density << ' ' << before << ' ' << after;
            }
        }
    }
}

TEST(PackedKernel, RunsAcrossTheBordersOfWordsAndWarps) {
    // A run of each length from each border, with its only seed at one end or the other.
    constexpr std::int64_t ticks = 4200;
    for (const std::int64_t border : {64, 2048, 4096}) {
        for (const std::int64_t begin : {border - 64, border - 63, border - 1, border}) {
            for (const std::int64_t length : {1, 2, 64, 65, 100}) {
                at::Tensor level = at::zeros({2, ticks}, at::kBool);
                level.narrow(1, begin, length).fill_(true);
                at::Tensor seeds = at::zeros({2, ticks}, at::kBool);
                seeds[0][begin] = true;
                seeds[1][begin + length - 1] = true;
                const at::Tensor seed = pack_ticks(seeds), open = pack_ticks(level);
                const at::Tensor seen =
                    emulated([&] { return kernels::grow_regions(seed, open, ticks, 1, 2); });
                EXPECT_TRUE(same_bytes(seen, grow_packed_regions(seed, open, ticks, 1, 2)))
                    << begin << ' ' << length;
            }
        }
    }
}

TEST(PackedKernel, RunsAreConfirmed) {
    at::manual_seed(4);
    for (const std::int64_t ticks : {1, 63, 64, 65, 1500, 2048, 2100}) {
        for (const auto& [run_density, fraction] : {std::pair{0.0, 0.5},
                                                    {0.7, 0.4},
                                                    {0.97, 0.5},
                                                    {1.0, 0.5},
                                                    {0.9, 0.25},
                                                    {0.5, 0.0},
                                                    {0.5, 1.0}}) {
            const at::Tensor runs = pack_ticks(random_mask(run_density, {5, ticks}));
            const at::Tensor sure = pack_ticks(random_mask(0.5, {5, ticks}));
            const at::Tensor lone = pack_ticks(random_mask(0.01, {5, ticks}));
            const double part = fraction;
            const at::Tensor seen =
                emulated([&] { return kernels::confirmed_runs(runs, sure, lone, ticks, part); });
            EXPECT_TRUE(same_bytes(seen, confirmed_runs(runs, sure, lone, ticks, part)))
                << ticks << ' ' << run_density << ' ' << fraction;
        }
    }
}

/// Return cells of random channels; target 1 has none.
CoincidenceTable random_table(std::int64_t targets, std::int64_t rows, std::int64_t most) {
    std::vector<int> offsets{0};
    for (std::int64_t target = 0; target < targets; ++target) {
        const auto cells = target == 1 ? 0 : at::randint(0, most + 1, {1}).item<std::int64_t>();
        offsets.push_back(offsets.back() + static_cast<int>(cells));
    }
    return make_coincidence_table(at::tensor(offsets, at::kInt),
                                  at::randint(0, rows, {offsets.back(), 2}, at::kInt), rows);
}

TEST(PackedKernel, Coincidence) {
    at::manual_seed(5);
    for (const std::int64_t words : {1, 24, 31, 32, 33, 94}) {
        const at::Tensor packed = pack_ticks(random_mask(0.1, {40, words * 64}));
        const CoincidenceTable table = random_table(9, 40, 20);
        const at::Tensor seen = emulated(
            [&] { return kernels::coincidence(packed, table.offsets, table.pairs, table.max_cells); });
        EXPECT_TRUE(same_bytes(seen, coincidence(packed, table))) << words;
        const at::Tensor neighbours = at::randint(-1, 40, {40, 3}, at::kInt);
        EXPECT_TRUE(same_bytes(emulated([&] { return kernels::or_neighbours(packed, neighbours); }),
                               or_neighbours(packed, neighbours)));
    }
    // Tables and masks at an odd offset in memory.
    const CoincidenceTable table = random_table(5, 12, 9);
    at::Tensor pairs = at::zeros({table.pairs.numel() + 1}, at::kInt);
    pairs = pairs.narrow(0, 1, table.pairs.numel()).view({-1, 2}).copy_(table.pairs);
    const at::Tensor apart =
        pack_ticks(random_mask(0.2, {1, (12 * 24 + 1) * 64})).narrow(1, 1, 12 * 24).view({12, 24});
    EXPECT_TRUE(same_bytes(
        emulated([&] { return kernels::coincidence(apart, table.offsets, pairs, table.max_cells); }),
        coincidence(apart, table)));
    const CoincidenceTable none = random_table(4, 7, 0);
    const at::Tensor packed = at::ones({7, 2}, at::kLong);
    EXPECT_TRUE(
        same_bytes(emulated([&] { return kernels::coincidence(packed, none.offsets, none.pairs, 0); }),
                   at::zeros({4, 2}, at::kLong)));
}

TEST(PackedKernel, ProductsOfPlanes) {
    at::manual_seed(6);
    for (const std::int64_t ticks : {1, 64, 65, 1500, 2049}) {
        const at::Tensor mask = pack_ticks(random_mask(0.5, {9, ticks}));
        const at::Tensor crossing = pack_ticks(random_mask(0.5, {9, ticks}));
        for (const std::vector<std::int64_t>& products :
             {std::vector<std::int64_t>{2, 3}, {0, 1, 2, 3}, {1}, {}}) {
            const at::Tensor seen =
                emulated([&] { return kernels::multi_plane(mask, crossing, ticks, products); });
            EXPECT_TRUE(same_bytes(seen, multi_plane(mask, crossing, ticks, products))) << ticks;
        }
    }
}

} // namespace
} // namespace spng::testing
