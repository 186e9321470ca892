// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/region_growth.h"

#include "spng/core/bit_words.h"
#include "spng/core/find_operator.h"
#include "spng/core/row_chunks.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/tensor_checks.h"
#include "spng/nodes/roi/neighbours.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace spng {

namespace {

constexpr std::int64_t row_grain = 16;

/// Find the ends of runs by counting zeros, so that an empty word costs one test.
at::Tensor grow_regions_cpu(const at::Tensor& seeds, const at::Tensor& level, std::int64_t ticks,
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

/// Return for every tick the latest tick at or before it where `mask` is set, or `never`.
at::Tensor latest_set(const at::Tensor& mask, const at::Tensor& tick, std::int64_t never) {
    return std::get<0>(at::cummax(at::where(mask, tick, never), -1));
}

/// Return an operation of packed masks (..., row, word) of one shape, applied to a few rows at a time.
/// @param bytes_of_row  temporaries of one row
template <class Operation>
at::Tensor by_rows(std::initializer_list<at::Tensor> masks, std::int64_t bytes_of_row,
                   const Operation& operation) {
    auto result = at::empty(masks.begin()->sizes(), masks.begin()->options());
    if (result.numel() == 0) {
        return result;
    }
    std::vector<at::Tensor> rows;
    std::transform(masks.begin(), masks.end(), std::back_inserter(rows), as_rows);
    const auto result_rows = as_rows(result);
    for_row_chunks(result_rows.size(0), bytes_of_row, [&](std::int64_t first, std::int64_t count) {
        std::vector<at::Tensor> chunk;
        for (const auto& mask : rows) {
            chunk.push_back(mask.narrow(0, first, count));
        }
        result_rows.narrow(0, first, count).copy_(operation(chunk));
    });
    return result;
}

at::Tensor grown_rows(const at::Tensor& packed_seeds, const at::Tensor& packed_level, std::int64_t ticks,
                      std::int64_t pad_before, std::int64_t pad_after) {
    const auto seeds = unpack_ticks(packed_seeds, ticks);
    const auto level = unpack_ticks(packed_level, ticks);
    const auto tick = at::arange(ticks, seeds.options().dtype(at::kLong));
    const auto open = seeds.logical_or(level);
    const auto closed = open.logical_not();
    const std::int64_t never = -1;
    // A tick is connected to an earlier seed if no closed tick lies between them. For later seeds, flip the
    // time.
    const auto connected = [&](const at::Tensor& seed, const at::Tensor& gap) {
        return latest_set(seed, tick, never).gt(latest_set(gap, tick, never));
    };
    const auto later = connected(seeds.flip(-1), closed.flip(-1)).flip(-1);
    const auto grown = open.logical_and(connected(seeds, closed).logical_or(later));
    // Pad by the distance back to the latest grown tick and forward to the earliest one.
    const std::int64_t out_of_reach = -(ticks + std::max(pad_before, pad_after) + 1);
    const auto behind = tick.sub(latest_set(grown, tick, out_of_reach)).le(pad_after);
    const auto ahead = tick.sub(latest_set(grown.flip(-1), tick, out_of_reach)).le(pad_before).flip(-1);
    return pack_ticks(behind.logical_or(ahead));
}

at::Tensor grow_regions_composite(const at::Tensor& packed_seeds, const at::Tensor& packed_level,
                                  std::int64_t ticks, std::int64_t pad_before, std::int64_t pad_after) {
    // Eight int64 for each tick, among them the values and indices of two cummax, and masks.
    return by_rows({packed_seeds, packed_level}, 72 * ticks, [&](const std::vector<at::Tensor>& masks) {
        return grown_rows(masks[0], masks[1], ticks, pad_before, pad_after);
    });
}

at::Tensor confirmed_runs_cpu(const at::Tensor& runs, const at::Tensor& confirmed, const at::Tensor& lone,
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

at::Tensor confirmed_rows(const at::Tensor& packed_runs, const at::Tensor& packed_confirmed,
                          const at::Tensor& packed_lone, std::int64_t ticks, double fraction) {
    const auto runs = unpack_ticks(packed_runs, ticks);
    const auto tick = at::arange(ticks, packed_runs.options());
    const auto gap = runs.logical_not();
    // Nearest closed ticks on both sides of each tick; -1 and `ticks` if there is none.
    const auto before = latest_set(gap, tick, -1);
    const auto past = latest_set(gap.flip(-1), tick, -1).flip(-1).neg().add(ticks - 1);
    // sums[k] counts the first k ticks, so the run (before, past) has sums[past] - sums[before + 1].
    const auto in_run = [&](const at::Tensor& mask) {
        const auto sums = at::constant_pad_nd(mask.to(at::kLong).cumsum(-1), {1, 0});
        return sums.gather(-1, past).sub(sums.gather(-1, before.add(1)));
    };
    const auto count = in_run(unpack_ticks(packed_confirmed, ticks)).to(at::kDouble);
    const auto length = past.sub(before).sub(1).to(at::kDouble);
    const auto has_lone = in_run(unpack_ticks(packed_lone, ticks)).gt(0);
    return pack_ticks(runs.logical_and(count.ge(length.mul(fraction)).logical_or(has_lone)));
}

at::Tensor confirmed_runs_composite(const at::Tensor& packed_runs, const at::Tensor& packed_confirmed,
                                    const at::Tensor& packed_lone, std::int64_t ticks, double fraction) {
    // Ten int64 or float64 for each tick, and masks.
    return by_rows({packed_runs, packed_confirmed, packed_lone}, 88 * ticks,
                   [&](const std::vector<at::Tensor>& masks) {
                       return confirmed_rows(masks[0], masks[1], masks[2], ticks, fraction);
                   });
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
    return combined_with_neighbours(mask, cyclic,
                                    [](at::Tensor into, const at::Tensor& from) { into.bitwise_or_(from); });
}

void require_packed(const char* operation, const char* name, const at::Tensor& mask, std::int64_t ticks) {
    require_tensor(mask.defined() && mask.scalar_type() == at::kLong && mask.dim() >= 1 &&
                       mask.size(-1) == words_for(ticks),
                   operation, name, mask, "packed, int64 (..., channel, word)");
}

} // namespace

at::Tensor find_regions_by_parts(const at::Tensor& levels, at::TensorList confirmed, std::int64_t ticks,
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

at::Tensor confirmed_runs(const at::Tensor& runs, const at::Tensor& confirmed, const at::Tensor& lone,
                          std::int64_t ticks, double fraction) {
    require_argument(ticks >= 0, "confirmed_runs", "number of ticks", ticks, "0 or more");
    for (const auto* mask : {&runs, &confirmed, &lone}) {
        require_packed("confirmed_runs", "mask", *mask, ticks);
        require_tensor(mask->sizes() == runs.sizes(), "confirmed_runs", "mask", *mask,
                       "the shape of the runs");
    }
    static const auto operation = find_operator<decltype(confirmed_runs_cpu)>("spng::confirmed_runs");
    return operation.call(runs, confirmed, lone, ticks, fraction);
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
    static const auto operation = find_operator<decltype(grow_regions_cpu)>("spng::grow_regions");
    return operation.call(seeds, level, ticks, pad_before, pad_after);
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
    static const auto operation = find_operator<decltype(find_regions_by_parts)>("spng::find_regions");
    return operation.call(levels, confirmed, ticks, seeds, lone, grow, fractions,
                          static_cast<std::int64_t>(rule.always), rule.beside, rule.cyclic, rule.pad);
}

at::Tensor upsample_mask(const at::Tensor& mask, std::int64_t factor) {
    require_tensor(is_mask(mask) && mask.dim() >= 1, "upsample_mask", "mask", mask, "bool (..., tick)");
    require_argument(factor > 0, "upsample_mask", "factor", factor, "1 or more");
    auto shape = mask.sizes().vec();
    shape.push_back(factor);
    return mask.unsqueeze(-1).expand(shape).flatten(-2);
}

TORCH_LIBRARY_FRAGMENT(spng, library) {
    library.def(
        "find_regions(Tensor levels, Tensor[] confirmed, int ticks, int[] seeds, int[] lone, int[] grow, "
        "float[] fractions, int always, int beside, bool cyclic, int pad) -> Tensor");
    library.def(
        "confirmed_runs(Tensor runs, Tensor confirmed, Tensor lone, int ticks, float fraction) -> Tensor");
    library.def(
        "grow_regions(Tensor seeds, Tensor level, int ticks, int pad_before, int pad_after) -> Tensor");
}

TORCH_LIBRARY_IMPL(spng, CPU, library) {
    library.impl("find_regions", find_regions_by_parts);
    library.impl("confirmed_runs", confirmed_runs_cpu);
    library.impl("grow_regions", grow_regions_cpu);
}

TORCH_LIBRARY_IMPL(spng, CompositeExplicitAutograd, library) {
    library.impl("find_regions", find_regions_by_parts);
    library.impl("confirmed_runs", confirmed_runs_composite);
    library.impl("grow_regions", grow_regions_composite);
}

} // namespace spng
