// SPDX-License-Identifier: Apache-2.0
// Kernels on packed ticks. Results are bits, so all are exact.

#include "spng/core/rows/bit_ticks.h"
#include "spng/nodes/coincidence/coincidence.h"
#include "spng/nodes/roi/region_growth.h"
#include "tests/kernels/kernel_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/stack.h>
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

/// Call an operator's CUDA function with the arguments of the public one.
at::Tensor levels_by_kernel(const std::vector<LevelRows>& rows, const std::vector<Level>& levels,
                            const std::optional<at::Tensor>& good) {
    std::vector<at::Tensor> waveforms;
    c10::List<std::optional<at::Tensor>> rms, pedestals;
    for (const LevelRows& each : rows) {
        waveforms.push_back(each.waveform);
        rms.push_back(each.rms);
        pedestals.push_back(each.pedestal);
    }
    std::vector<std::int64_t> waveform_of_level;
    std::vector<double> factors, nominals;
    for (const Level& level : levels) {
        waveform_of_level.push_back(level.waveform);
        factors.push_back(level.factor);
        nominals.push_back(level.nominal);
    }
    return emulated([&] {
        return kernels::pack_levels(waveforms, rms, pedestals, good, waveform_of_level, factors, nominals);
    });
}

TEST(PackedKernel, Levels) {
    at::manual_seed(2);
    for (const auto type : {at::kFloat, at::kDouble}) {
        for (const std::int64_t ticks : {1, 63, 64, 65, 1500}) {
            const at::Tensor waveform = at::rand({2, 5, ticks + 20}, type).narrow(2, 10, ticks);
            // Thresholds with ties: sample and threshold are multiples of an eighth.
            const at::Tensor coarse = (waveform * 8).round() / 8;
            const at::Tensor unit = (at::rand({2, 5}, type) * 8).round() / 8;
            const std::vector<LevelRows> rows{
                {.waveform = waveform, .rms = unit},
                {.waveform = coarse, .rms = unit, .pedestal = at::rand({2, 5}, type) - 0.3},
                {.waveform = coarse.transpose(0, 1).contiguous().transpose(0, 1)}};
            const std::vector<Level> levels{{0, 0.5}, {1, 0.7, 0.1}, {0, 1}, {2, 3, 0.5}, {1, -1}, {1, 0.5}};
            for (const auto& good : {std::optional<at::Tensor>(), std::optional(random_mask(0.6, {2, 5}))}) {
                EXPECT_TRUE(same_bytes(levels_by_kernel(rows, levels, good), pack_levels(rows, levels, good)))
                    << ticks;
            }
        }
    }
}

TEST(PackedKernel, MoreLevelsAndImagesThanOneLaunchTakes) {
    at::manual_seed(8);
    std::vector<LevelRows> rows;
    std::vector<Level> levels;
    for (std::int64_t i = 0; i < 11; ++i) {
        rows.push_back({.waveform = at::rand({3, 70}), .rms = at::rand({3})});
        for (int k = 0; k < 7; ++k) {
            levels.push_back({(5 * i + k) % (i + 1), 0.1 * k, 0.1});
        }
    }
    EXPECT_TRUE(same_bytes(levels_by_kernel(rows, levels, {}), pack_levels(rows, levels)));
    EXPECT_EQ(levels_by_kernel({{.waveform = at::zeros({3, 0})}}, {{0, 1}}, {}).numel(), 0);
}

at::Tensor regions_by_kernel(const at::Tensor& levels, const std::vector<at::Tensor>& confirmed,
                             const RegionRule& rule, std::int64_t ticks) {
    std::vector<std::int64_t> seeds, lone, grow;
    std::vector<double> fractions;
    for (const RegionPass& pass : rule.passes) {
        seeds.push_back(static_cast<std::int64_t>(pass.seeds));
        lone.push_back(static_cast<std::int64_t>(pass.lone));
        grow.push_back(pass.grow);
        fractions.push_back(pass.confirmed_fraction);
    }
    return emulated([&] {
        return kernels::find_regions(levels, confirmed, ticks, seeds, lone, grow, fractions,
                                     static_cast<std::int64_t>(rule.always), rule.beside, rule.cyclic,
                                     rule.pad);
    });
}

/// Compare with the CPU's operator.
void expect_regions(const at::Tensor& levels, const std::vector<at::Tensor>& confirmed,
                    const RegionRule& rule, std::int64_t ticks) {
    EXPECT_TRUE(same_bytes(regions_by_kernel(levels, confirmed, rule, ticks),
                           find_regions(levels, confirmed, rule, ticks)))
        << ticks << " ticks, " << rule.passes.size() << " passes, padding " << rule.pad;
}

at::Tensor random_levels(std::initializer_list<double> densities, at::IntArrayRef rows, std::int64_t ticks) {
    std::vector<at::Tensor> levels;
    for (const double density : densities) {
        levels.push_back(pack_ticks(random_mask(density, {rows[0], rows[1], ticks})));
    }
    return at::stack(levels);
}

TEST(PackedKernel, RegionsGrow) {
    at::manual_seed(3);
    for (const std::int64_t ticks : {1, 2, 63, 64, 65, 127, 128, 1500, 2047, 2048, 2049, 6000, 6001}) {
        for (const auto& [seed_density, level_density] :
             {std::pair{0.0, 0.5}, {0.01, 0.9}, {0.02, 0.99}, {0.3, 0.3}, {1.0, 1.0}, {0.001, 1.0}}) {
            const at::Tensor levels = random_levels({seed_density, level_density}, {1, 5}, ticks);
            for (const std::int64_t pad : {0, 1, 63, 64, 70, 2500, 100000}) {
                expect_regions(levels, {}, {.passes = {{.seeds = 1, .grow = 1}}, .pad = pad}, ticks);
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
                at::Tensor masks = at::zeros({2, 1, 2, ticks}, at::kBool);
                masks[1].narrow(2, begin, length).fill_(true);
                masks[0][0][0][begin] = true;
                masks[0][0][1][begin + length - 1] = true;
                expect_regions(pack_ticks(masks), {}, {.passes = {{.seeds = 1, .grow = 1}}, .pad = 2}, ticks);
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
            const at::Tensor levels = random_levels({run_density, 0.01, run_density}, {1, 5}, ticks);
            const at::Tensor sure = random_levels({0.3, 0.3}, {1, 5}, ticks);
            for (const LevelSet lone : {0, 2}) {
                const RegionPass pass{.seeds = 1, .lone = lone, .grow = 2, .confirmed_fraction = fraction};
                expect_regions(levels, {sure[0], sure[1]}, {.passes = {pass}}, ticks);
                expect_regions(levels, {sure[0]}, {.passes = {pass}}, ticks);
            }
        }
    }
}

TEST(PackedKernel, RegionsOfSeveralPassesAndNeighbours) {
    at::manual_seed(9);
    for (const std::int64_t ticks : {1, 65, 1500, 2100}) {
        for (const std::int64_t channels : {1, 2, 9}) {
            const at::Tensor levels = random_levels({0.02, 0.002, 0.6, 0.02, 0.9, 0.5}, {2, channels}, ticks);
            const at::Tensor sure = random_levels({0.3, 0.3}, {2, channels}, ticks);
            const RegionPass by_seed{.seeds = 1, .lone = 2, .grow = 2};
            const RegionPass by_run{.seeds = 9, .lone = 2, .grow = 4, .confirmed_fraction = 0.4};
            for (const bool cyclic : {false, true}) {
                const std::vector<at::Tensor> confirmed{sure[0], sure[1]};
                for (const std::int64_t pad : {0, 1}) {
                    expect_regions(levels, confirmed,
                                   {.passes = {by_seed, by_run}, .beside = 5, .cyclic = cyclic, .pad = pad},
                                   ticks);
                    expect_regions(levels, confirmed,
                                   {.passes = {by_run, by_seed}, .beside = 5, .cyclic = cyclic, .pad = pad},
                                   ticks);
                }
            }
            expect_regions(levels, {}, {.passes = {by_seed, by_run}, .always = 2, .pad = 3}, ticks);
            expect_regions(levels, {}, {.always = 10}, ticks);
            expect_regions(levels, {}, {}, ticks);
            // More than the parameters of a launch hold.
            std::vector<RegionPass> many(8, by_seed);
            many.push_back(by_run);
            expect_regions(levels, {}, {.passes = many, .always = 2}, ticks);
            expect_regions(levels, {sure[0], sure[1], levels[5]},
                           {.passes = many, .beside = 5, .cyclic = true, .pad = 2}, ticks);
        }
    }
    expect_regions(at::zeros({1, 2, 3, 0}, at::kLong), {}, {.passes = {{.seeds = 1}}}, 0);
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
        const auto narrow = emulated([&] {
            return kernels::coincidence(packed, table.offsets, table.pairs.to(at::kShort), table.max_cells);
        });
        EXPECT_TRUE(same_bytes(narrow, seen)) << words;
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
                emulated([&] { return kernels::multi_plane(mask, crossing, {}, ticks, products); });
            EXPECT_TRUE(same_bytes(seen, multi_plane(mask, crossing, ticks, products))) << ticks;
            const at::Tensor neighbours = at::randint(-1, 9, {9, 3}, at::kInt);
            const at::Tensor wider =
                emulated([&] { return kernels::multi_plane(mask, crossing, neighbours, ticks, products); });
            EXPECT_TRUE(same_bytes(wider, multi_plane(mask, crossing, ticks, products, neighbours))) << ticks;
        }
    }
}

} // namespace
} // namespace spng::testing
