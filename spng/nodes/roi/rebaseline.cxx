// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/rebaseline.h"

#include "spng/core/bit_words.h"
#include "spng/core/find_operator.h"
#include "spng/core/lane_sum.h"
#include "spng/core/multiversion.h"
#include "spng/core/row_chunks.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/rows/compacted_rows.h"
#include "spng/core/tensor_checks.h"
#include "spng/nodes/roi/level_window.h"
#include "spng/nodes/roi/region_growth.h"
#include "spng/nodes/roi/run_limits.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>

namespace spng {

namespace {

constexpr std::int64_t row_grain = 8;

/// Return the mean over level_ticks from `first` on, or nothing if they are not all in the row.
template <class Sample>
std::optional<Sample> level(const Sample* row, std::int64_t first, std::int64_t ticks) {
    if (first < 0 || first + level_ticks > ticks) {
        return std::nullopt;
    }
    Sample sum = 0;
    for (std::int64_t tick = first; tick < first + level_ticks; ++tick) {
        sum += row[tick];
    }
    return sum / level_ticks;
}

/// A line by its value at the first tick of an ROI and its slope per tick.
template <class Sample>
struct Line {
    Sample start, slope;
};

/// Return the baseline of the ROI [begin, end).
/// @param gap_before  ticks to the previous ROI; at least 2 level_distance if there is none
/// @param gap_after   the same to the next ROI
template <class Sample>
Line<Sample> baseline_of(const Sample* row, std::int64_t ticks, std::int64_t begin, std::int64_t end,
                         std::int64_t gap_before, std::int64_t gap_after) {
    const std::int64_t before = std::min<std::int64_t>(level_distance, gap_before / 2);
    const std::int64_t after = std::min<std::int64_t>(level_distance, gap_after / 2);
    const auto left = level(row, begin - before - level_ticks / 2, ticks);
    const auto right = level(row, end + after - level_ticks / 2, ticks);
    if (!left || !right) {
        return {left.value_or(right.value_or(Sample{0})), Sample{0}};
    }
    const Sample slope = (*right - *left) / static_cast<Sample>(end - begin + before + after);
    return {*left + slope * (static_cast<Sample>(before) + Sample{0.5}), slope};
}

template <class Sample>
SPNG_MULTIVERSION void subtract_line(const Sample* signal, std::int64_t count, Line<Sample> line,
                                     Sample* result) {
    for (std::int64_t tick = 0; tick < count; ++tick) {
        result[tick] = signal[tick] - (line.start + line.slope * static_cast<Sample>(tick));
    }
}

template <class Sample>
SPNG_MULTIVERSION void subtract_level(const Sample* signal, std::int64_t count, Sample level,
                                      Sample* result) {
    for (std::int64_t tick = 0; tick < count; ++tick) {
        result[tick] = signal[tick] - level;
    }
}

template <class Sample>
SPNG_MULTIVERSION double sum(const Sample* signal, std::int64_t count) {
    return lane_sum(signal, count, [](double sample) { return sample; });
}

/// Bend the baseline of an ROI with a negative sum. Not SPNG_MULTIVERSION: products are rounded, as in the kernel.
template <class Sample>
void bend_negative(Sample* samples, std::int64_t count) {
    const auto total = static_cast<Sample>(sum(samples, count));
    if (total >= 0) {
        return;
    }
    const std::int64_t lowest = std::min_element(samples, samples + count) - samples;
    const Sample depth = samples[lowest];
    const Sample bend = depth * std::min(Sample{1}, 4 * total / (depth * static_cast<Sample>(count + 1)));
    for (std::int64_t tick = 0; tick < count; ++tick) {
        const Sample share = tick <= lowest
                                 ? static_cast<Sample>(tick + 1) / static_cast<Sample>(lowest + 1)
                                 : static_cast<Sample>(count - tick) / static_cast<Sample>(count - lowest);
        samples[tick] -= bend * share;
    }
}

/// Call outside(begin, end) and inside(begin, end) for the alternating gaps and ROIs of a row of the mask.
/// They cover every tick exactly once, in order.
template <class Outside, class Inside>
void for_each_run(const std::uint64_t* mask, std::int64_t slices, std::int64_t factor, std::int64_t ticks,
                  Outside outside, Inside inside) {
    std::int64_t past = 0;
    while (past < slices) {
        const std::int64_t first = find_bit(mask, past, slices, true);
        outside(past * factor, std::min(first * factor, ticks));
        past = find_bit(mask, first, slices, false);
        if (first < past) {
            inside(first * factor, std::min(past * factor, ticks));
        }
    }
}

/// Call for_row(row of the signal, packed mask, row of the result) for all rows.
template <class Sample, class ForRow>
void for_each_row(const at::Tensor& signal, const at::Tensor& mask, at::Tensor& result, ForRow for_row) {
    const std::int64_t ticks = signal.size(-1);
    const std::int64_t words = mask.size(-1);
    const auto* from = signal.const_data_ptr<Sample>();
    const auto* inside = reinterpret_cast<const std::uint64_t*>(mask.const_data_ptr<std::int64_t>());
    auto* to = result.mutable_data_ptr<Sample>();
    at::parallel_for(0, signal.numel() / ticks, row_grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            for_row(from + row * ticks, inside + row * words, to + row * ticks);
        }
    });
}

template <class Sample>
void apply_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor, at::Tensor& result) {
    const std::int64_t ticks = signal.size(-1);
    const std::int64_t slices = slices_of(ticks, factor);
    for_each_row<Sample>(
        signal, mask, result, [=](const Sample* from, const std::uint64_t* words, Sample* to) {
            std::int64_t gap_before = 2 * level_distance;
            for_each_run(
                words, slices, factor, ticks,
                [=, &gap_before](std::int64_t begin, std::int64_t end) {
                    gap_before = begin > 0 ? end - begin : 2 * level_distance;
                    std::fill(to + begin, to + end, Sample{0});
                },
                [=, &gap_before](std::int64_t begin, std::int64_t end) {
                    const std::int64_t next = find_bit(words, (end + factor - 1) / factor, slices, true);
                    const std::int64_t gap_after = next < slices ? next * factor - end : 2 * level_distance;
                    subtract_line(from + begin, end - begin,
                                  baseline_of(from, ticks, begin, end, gap_before, gap_after), to + begin);
                    bend_negative(to + begin, end - begin);
                });
        });
}

template <class Sample>
void apply_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor,
                    at::Tensor& result) {
    const std::int64_t ticks = signal.size(-1);
    const std::int64_t slices = slices_of(ticks, factor);
    for_each_row<Sample>(
        signal, mask, result, [=](const Sample* from, const std::uint64_t* words, Sample* to) {
            double outside_sum = 0;
            std::int64_t outside_ticks = 0;
            for_each_run(
                words, slices, factor, ticks,
                [&](std::int64_t begin, std::int64_t end) {
                    outside_sum += sum(from + begin, end - begin);
                    outside_ticks += end - begin;
                    std::fill(to + begin, to + end, Sample{0});
                },
                [](std::int64_t, std::int64_t) {});
            const auto baseline = outside_ticks > 0
                                      ? static_cast<Sample>(outside_sum / static_cast<double>(outside_ticks))
                                      : Sample{0};
            for_each_run(
                words, slices, factor, ticks, [](std::int64_t, std::int64_t) {},
                [=](std::int64_t begin, std::int64_t end) {
                    subtract_level(from + begin, end - begin, baseline, to + begin);
                });
        });
}

at::Tensor apply_regions_linear_cpu(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    auto result = at::empty(signal.sizes(), signal.options());
    if (result.numel() > 0) {
        signal.scalar_type() == at::kFloat
            ? apply_linear<float>(signal.contiguous(), mask.contiguous(), factor, result)
            : apply_linear<double>(signal.contiguous(), mask.contiguous(), factor, result);
    }
    return result;
}

at::Tensor apply_regions_restored_cpu(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    auto result = at::empty(signal.sizes(), signal.options());
    if (result.numel() > 0) {
        signal.scalar_type() == at::kFloat
            ? apply_restored<float>(signal.contiguous(), mask.contiguous(), factor, result)
            : apply_restored<double>(signal.contiguous(), mask.contiguous(), factor, result);
    }
    return result;
}

at::Tensor mask_of_ticks(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    const std::int64_t ticks = signal.size(-1);
    return upsample_mask(unpack_ticks(mask, slices_of(ticks, factor)), factor).narrow(-1, 0, ticks);
}

/// Return the means over level_ticks from every tick on that has so many ticks after it.
at::Tensor levels(const at::Tensor& signal) {
    const std::int64_t count = signal.size(-1) - level_ticks + 1;
    auto sum = signal.narrow(-1, 0, count).clone();
    for (std::int64_t tick = 1; tick < level_ticks; ++tick) {
        sum.add_(signal.narrow(-1, tick, count));
    }
    return sum.div_(level_ticks);
}

/// Return operation(rows of the signal, rows of the mask), applied to a few rows at a time.
/// @param bytes_of_tick  temporaries
template <class Operation>
at::Tensor by_rows(const at::Tensor& signal, const at::Tensor& mask, std::int64_t bytes_of_tick,
                   const Operation& operation) {
    auto result = at::empty(signal.sizes(), signal.options());
    if (result.numel() == 0) {
        return result;
    }
    const auto signal_rows = as_rows(signal);
    const auto mask_rows = as_rows(mask);
    const auto result_rows = as_rows(result);
    for_row_chunks(
        signal_rows.size(0), bytes_of_tick * signal.size(-1), [&](std::int64_t first, std::int64_t count) {
            result_rows.narrow(0, first, count)
                .copy_(operation(signal_rows.narrow(0, first, count), mask_rows.narrow(0, first, count)));
        });
    return result;
}

/// Return bend_negative() of each run.
/// @param charge  (row, tick), 0 outside
/// @param first, end  of the run of each tick inside
at::Tensor bent_rows(const at::Tensor& charge, const at::Tensor& inside, const at::Tensor& first,
                     const at::Tensor& end) {
    const std::int64_t ticks = charge.size(-1);
    const auto tick = at::arange(ticks, first.options()).expand_as(first);
    const auto run = at::where(inside, first, tick); // the runs by their first ticks
    const auto sums = at::constant_pad_nd(charge.to(at::kDouble).cumsum(-1), {1, 0});
    const auto total = sums.gather(-1, end).sub(sums.gather(-1, first)).to(charge.scalar_type());
    const auto smallest = [&](const at::Tensor& values) {
        return values.scatter_reduce(-1, run, values, "amin", /*include_self=*/false).gather(-1, run);
    };
    const auto depth = smallest(charge);
    const auto lowest = smallest(at::where(charge.eq(depth), tick, ticks));
    const auto up = tick.sub(first).add(1).to(charge.scalar_type()).div(lowest.sub(first).add(1));
    const auto down = end.sub(tick).to(charge.scalar_type()).div(end.sub(lowest));
    const auto part = total.mul(4).div(depth.mul(end.sub(first).add(1))).clamp_max(1);
    const auto bent = charge.sub(depth.mul(part).mul(at::where(tick.le(lowest), up, down)));
    return at::where(inside.logical_and(total.lt(0)), bent, charge);
}

at::Tensor linear_rows(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    const std::int64_t ticks = signal.size(-1);
    const auto inside = mask_of_ticks(signal, mask, factor);
    const auto tick = at::arange(ticks, signal.options().dtype(at::kLong));
    const auto [first, end, gap_before, gap_after] = run_limits(inside, 2 * level_distance);
    if (ticks < level_ticks) {
        return bent_rows(at::where(inside, signal, 0), inside, first, end);
    }
    const auto before = gap_before.div(2, "floor").clamp_max(level_distance);
    const auto after = gap_after.div(2, "floor").clamp_max(level_distance);
    const auto means = levels(signal);
    const auto level_from = [&](const at::Tensor& start) {
        return means.gather(-1, start.clamp(0, ticks - level_ticks));
    };
    const auto left_start = first.sub(before).sub(level_ticks / 2);
    const auto right_start = end.add(after).sub(level_ticks / 2);
    const auto is_in_row = [&](const at::Tensor& start) {
        return start.ge(0).logical_and(start.le(ticks - level_ticks));
    };
    const auto has_left = is_in_row(left_start);
    const auto has_right = is_in_row(right_start);
    const auto left = level_from(left_start);
    const auto right = level_from(right_start);
    const auto both = has_left.logical_and(has_right);
    const auto one = at::where(has_left, left, at::where(has_right, right, 0));
    const auto slope = at::where(both, right.sub(left).div(end.sub(first).add(before).add(after)), 0);
    const auto start = at::where(both, left.add(slope.mul(before.add(0.5))), one);
    const auto charge = at::where(inside, signal.sub(start.add(slope.mul(tick.sub(first)))), 0);
    return bent_rows(charge, inside, first, end);
}

at::Tensor apply_regions_linear_composite(const at::Tensor& signal, const at::Tensor& mask,
                                          std::int64_t factor) {
    // Sixteen int64 or float64, twelve samples, and masks.
    return by_rows(
        signal, mask, 16 * 8 + 12 * signal.element_size() + 8,
        [&](const at::Tensor& rows, const at::Tensor& masks) { return linear_rows(rows, masks, factor); });
}

at::Tensor restored_rows(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    const auto inside = mask_of_ticks(signal, mask, factor);
    const auto outside = inside.logical_not();
    const auto total = at::where(inside, 0, signal).sum(-1, /*keepdim=*/true);
    const auto baseline = total.div(outside.sum(-1, /*keepdim=*/true).clamp_min(1));
    return at::where(inside, signal.sub(baseline), 0);
}

at::Tensor apply_regions_restored_composite(const at::Tensor& signal, const at::Tensor& mask,
                                            std::int64_t factor) {
    return by_rows(
        signal, mask, 3 * signal.element_size() + 4,
        [&](const at::Tensor& rows, const at::Tensor& masks) { return restored_rows(rows, masks, factor); });
}

at::Tensor call(const char* operation, const char* name, const at::Tensor& signal, const at::Tensor& mask,
                std::int64_t factor) {
    require_rows_and_mask(name, signal, mask, factor);
    return find_operator<decltype(apply_regions_linear_cpu)>(operation).call(signal, mask, factor);
}

} // namespace

at::Tensor apply_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return call("spng::apply_regions_linear", "apply_regions_linear", signal, mask, factor);
}

at::Tensor apply_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return call("spng::apply_regions_restored", "apply_regions_restored", signal, mask, factor);
}

TORCH_LIBRARY_FRAGMENT(spng, library) {
    library.def("apply_regions_linear(Tensor signal, Tensor mask, int factor) -> Tensor");
    library.def("apply_regions_restored(Tensor signal, Tensor mask, int factor) -> Tensor");
}

TORCH_LIBRARY_IMPL(spng, CPU, library) {
    library.impl("apply_regions_linear", apply_regions_linear_cpu);
    library.impl("apply_regions_restored", apply_regions_restored_cpu);
}

TORCH_LIBRARY_IMPL(spng, CompositeExplicitAutograd, library) {
    library.impl("apply_regions_linear", apply_regions_linear_composite);
    library.impl("apply_regions_restored", apply_regions_restored_composite);
}

} // namespace spng
