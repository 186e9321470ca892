// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/region_growth.h"

#include "spng/core/bit_words.h"
#include "spng/core/operator.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace spng {

namespace {

constexpr std::int64_t row_grain = 16;

/// Find the ends of runs by counting zeros, so that an empty word costs one test.
at::Tensor grown_rows(const at::Tensor& seeds, const at::Tensor& level, std::int64_t ticks,
                      std::int64_t pad_before, std::int64_t pad_after) {
    const auto seed_input = seeds.contiguous();
    const auto level_input = level.contiguous();
    auto regions = at::zeros(seeds.sizes(), seeds.options());
    if (regions.numel() == 0) {
        return regions;
    }
    const std::int64_t words = words_for(ticks);
    const auto* seed_words =
        reinterpret_cast<const std::uint64_t*>(seed_input.const_data_ptr<std::int64_t>());
    const auto* level_words =
        reinterpret_cast<const std::uint64_t*>(level_input.const_data_ptr<std::int64_t>());
    auto* region_words = reinterpret_cast<std::uint64_t*>(regions.mutable_data_ptr<std::int64_t>());
    at::parallel_for(0, seeds.numel() / words, row_grain, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::uint64_t> open(words);
        for (std::int64_t row = begin; row < end; ++row) {
            const auto* seed = seed_words + row * words;
            for (std::int64_t word = 0; word < words; ++word) {
                open[word] = seed[word] | level_words[row * words + word];
            }
            // Seeds are rare, so look up the run of each seed rather than test each run for seeds.
            std::int64_t past = 0;
            for (std::int64_t next = find_bit(seed, 0, ticks, true); next < ticks;
                 next = find_bit(seed, past, ticks, true)) {
                const std::int64_t first = find_bit_back(open.data(), past, next, false);
                past = find_bit(open.data(), next, ticks, false);
                set_bits(region_words + row * words, std::max<std::int64_t>(0, first - pad_before),
                         std::min(ticks, past + pad_after));
            }
        }
    });
    return regions;
}

at::Tensor confirmed_rows(const at::Tensor& runs, const at::Tensor& confirmed, const at::Tensor& lone,
                          std::int64_t ticks, double fraction) {
    const auto run_input = runs.contiguous();
    const auto confirmed_input = confirmed.contiguous();
    const auto lone_input = lone.contiguous();
    auto kept = at::zeros(runs.sizes(), runs.options());
    if (kept.numel() == 0) {
        return kept;
    }
    const std::int64_t words = words_for(ticks);
    const auto row_of = [words](const at::Tensor& mask, std::int64_t row) {
        return reinterpret_cast<const std::uint64_t*>(mask.const_data_ptr<std::int64_t>()) + row * words;
    };
    auto* kept_words = reinterpret_cast<std::uint64_t*>(kept.mutable_data_ptr<std::int64_t>());
    at::parallel_for(0, runs.numel() / words, row_grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const auto* run = row_of(run_input, row);
            for (std::int64_t first = find_bit(run, 0, ticks, true); first < ticks;) {
                const std::int64_t past = find_bit(run, first, ticks, false);
                const auto count = static_cast<double>(count_bits(row_of(confirmed_input, row), first, past));
                if (count >= fraction * static_cast<double>(past - first) ||
                    find_bit(row_of(lone_input, row), first, past, true) < past) {
                    set_bits(kept_words + row * words, first, past);
                }
                first = find_bit(run, past, ticks, true);
            }
        }
    });
    return kept;
}

/// Return the OR of the levels in the set, undefined for an empty set.
at::Tensor or_of_levels(const at::Tensor& levels, LevelSet set) {
    at::Tensor mask;
    for (; set != 0; set &= set - 1) {
        const at::Tensor level = levels.select(0, std::countr_zero(set));
        mask = mask.defined() ? mask.bitwise_or(level) : level;
    }
    return mask;
}

at::Tensor or_of(const at::Tensor& left, const at::Tensor& right) {
    return left.defined() && right.defined() ? left.bitwise_or(right) : left.defined() ? left : right;
}

/// Return the OR of each row with the rows of the neighbouring channels of its view.
at::Tensor with_neighbours(const at::Tensor& mask, bool cyclic) {
    at::Tensor combined = mask.clone(at::MemoryFormat::Contiguous);
    const std::int64_t last = mask.size(1) - 1;
    const auto add = [&](std::int64_t to, std::int64_t from, std::int64_t count) {
        combined.narrow(1, to, count).bitwise_or_(mask.narrow(1, from, count));
    };
    if (last > 0) {
        add(1, 0, last);
        add(0, 1, last);
    }
    if (last > 0 && cyclic) {
        add(0, last, 1);
        add(last, 0, 1);
    }
    return combined;
}

void require_packed(const char* operation, const char* name, const at::Tensor& mask, std::int64_t ticks) {
    require_tensor(mask.defined() && mask.scalar_type() == at::kLong && mask.dim() >= 1 &&
                       mask.size(-1) == words_for(ticks),
                   operation, name, mask, "packed, int64 (..., channel, word)");
}

at::Tensor find_regions_cpu(const at::Tensor& levels, at::TensorList confirmed, std::int64_t ticks,
                            at::IntArrayRef seeds, at::IntArrayRef lone, at::IntArrayRef grow,
                            at::ArrayRef<double> fractions, std::int64_t always, std::int64_t beside,
                            bool cyclic, std::int64_t pad) {
    at::Tensor sure;
    for (const at::Tensor& mask : confirmed) {
        sure = or_of(sure, mask);
    }
    at::Tensor regions;
    for (std::size_t pass = 0; pass < seeds.size(); ++pass) {
        at::Tensor seed = or_of_levels(levels, static_cast<LevelSet>(seeds[pass]));
        const at::Tensor alone = or_of_levels(levels, static_cast<LevelSet>(lone[pass]));
        const bool by_run = sure.defined() && fractions[pass] > 0;
        if (sure.defined() && !by_run) {
            seed = or_of(seed.bitwise_and(sure), alone);
        }
        at::Tensor runs = grow_packed_regions(seed, levels.select(0, grow[pass]), ticks, 0, 0);
        if (by_run) {
            runs = confirmed_runs(runs, sure, alone.defined() ? alone : at::zeros_like(runs), ticks,
                                  fractions[pass]);
        }
        if (pass == 0 && beside >= 0) {
            at::Tensor near = with_neighbours(runs, cyclic);
            const at::Tensor next =
                or_of_levels(levels, static_cast<LevelSet>(seeds[pass])).bitwise_and(near);
            runs.bitwise_or_(grow_packed_regions(next, levels.select(0, grow[pass]), ticks, 0, 0));
            runs.bitwise_or_(near.bitwise_and_(sure).bitwise_and_(levels.select(0, beside)));
        }
        regions = or_of(regions, runs);
    }
    regions = or_of(regions, or_of_levels(levels, static_cast<LevelSet>(always)));
    if (!regions.defined()) {
        return at::zeros(levels.sizes().slice(1), levels.options());
    }
    if (pad > 0) {
        return grow_packed_regions(regions, regions, ticks, pad, pad);
    }
    return seeds.empty() ? regions.clone() : regions; // a level is a view of the argument
}

const Operator find_regions_op{
    "find_regions(Tensor levels, Tensor[] confirmed, int ticks, int[] seeds, int[] lone, int[] grow, "
    "float[] fractions, int always, int beside, bool cyclic, int pad) -> Tensor",
    find_regions_cpu, kernels::find_regions};

} // namespace

at::Tensor confirmed_runs(const at::Tensor& runs, const at::Tensor& confirmed, const at::Tensor& lone,
                          std::int64_t ticks, double fraction) {
    require_argument(ticks >= 0, "confirmed_runs", "number of ticks", ticks, "0 or more");
    for (const auto* mask : {&runs, &confirmed, &lone}) {
        require_packed("confirmed_runs", "mask", *mask, ticks);
        require_tensor(mask->sizes() == runs.sizes(), "confirmed_runs", "mask", *mask,
                       "the shape of the runs");
    }
    return confirmed_rows(runs, confirmed, lone, ticks, fraction);
}

at::Tensor grow_packed_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t ticks,
                               std::int64_t pad_before, std::int64_t pad_after) {
    require_argument(ticks >= 0, "grow_packed_regions", "number of ticks", ticks, "0 or more");
    require_packed("grow_packed_regions", "mask of seeds", seeds, ticks);
    require_tensor(level.defined() && level.scalar_type() == at::kLong && level.sizes() == seeds.sizes(),
                   "grow_packed_regions", "mask of the level", level,
                   "the shape of the seeds, " + describe_tensor(seeds));
    require_argument(pad_before >= 0, "grow_packed_regions", "padding before", pad_before, "0 or more ticks");
    require_argument(pad_after >= 0, "grow_packed_regions", "padding after", pad_after, "0 or more ticks");
    return grown_rows(seeds, level, ticks, pad_before, pad_after);
}

at::Tensor grow_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t pad_before,
                        std::int64_t pad_after) {
    require_tensor(is_mask(seeds) && seeds.dim() >= 1, "grow_regions", "mask of seeds", seeds,
                   "bool (..., channel, tick)");
    require_tensor(is_mask(level) && level.sizes() == seeds.sizes(), "grow_regions", "mask of the level",
                   level, "the shape of the seeds, " + describe_tensor(seeds));
    const std::int64_t ticks = seeds.size(-1);
    return unpack_ticks(
        grow_packed_regions(pack_ticks(seeds), pack_ticks(level), ticks, pad_before, pad_after), ticks);
}

at::Tensor find_regions(const at::Tensor& levels, const std::vector<at::Tensor>& confirmed,
                        const RegionRule& rule, std::int64_t ticks) {
    const char* name = "find_regions";
    require_argument(ticks >= 0, name, "number of ticks", ticks, "0 or more");
    require_packed(name, "levels", levels, ticks);
    require_tensor(levels.dim() == 4 && levels.size(0) <= max_level_sets, name, "levels", levels,
                   "int64 (level, view, channel, word) with at most 63 levels");
    for (const at::Tensor& mask : confirmed) {
        require_tensor(mask.defined() && mask.scalar_type() == at::kLong &&
                           mask.sizes() == levels.sizes().slice(1),
                       name, "confirmation", mask, "the shape of a level of " + describe_tensor(levels));
    }
    const std::int64_t count = levels.size(0);
    const auto require_level = [&](std::int64_t level, std::int64_t lowest) {
        require_argument(level >= lowest && level < count, name, "level", level,
                         std::to_string(lowest) + " to " + std::to_string(count - 1));
    };
    const auto require_set = [&](LevelSet set) { require_level(std::bit_width(set) - 1, -1); };
    std::vector<std::int64_t> seeds, lone, grow;
    std::vector<double> fractions;
    for (const RegionPass& pass : rule.passes) {
        require_set(pass.seeds);
        require_set(pass.lone);
        require_level(pass.grow, 0);
        require_argument(pass.seeds != 0, name, "seeds of a pass", 0, "at least one level");
        require_argument(pass.confirmed_fraction >= 0 && pass.confirmed_fraction <= 1, name,
                         "confirmed fraction", static_cast<std::int64_t>(pass.confirmed_fraction), "0 to 1");
        seeds.push_back(static_cast<std::int64_t>(pass.seeds));
        lone.push_back(static_cast<std::int64_t>(pass.lone));
        grow.push_back(pass.grow);
        fractions.push_back(pass.confirmed_fraction);
    }
    require_set(rule.always);
    require_level(rule.beside, -1);
    require_argument(rule.beside < 0 || (!seeds.empty() && !confirmed.empty()), name, "level beside",
                     rule.beside, "-1 without a pass or without confirmation");
    require_argument(rule.pad >= 0, name, "padding", rule.pad, "0 or more ticks");
    return find_regions_op(levels, confirmed, ticks, seeds, lone, grow, fractions,
                           static_cast<std::int64_t>(rule.always), rule.beside, rule.cyclic, rule.pad);
}

at::Tensor upsample_mask(const at::Tensor& mask, std::int64_t factor) {
    require_tensor(is_mask(mask) && mask.dim() >= 1, "upsample_mask", "mask", mask, "bool (..., tick)");
    require_argument(factor > 0, "upsample_mask", "factor", factor, "1 or more");
    auto shape = mask.sizes().vec();
    shape.push_back(factor);
    return mask.unsqueeze(-1).expand(shape).flatten(-2);
}

} // namespace spng
