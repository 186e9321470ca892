// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/rebaseline.h"

#include "spng/core/bit_words.h"
#include "spng/core/operator.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/rows/compacted_rows.h"
#include "spng/core/rows/lane_sum.h"
#include "spng/core/rows/multiversion.h"
#include "spng/core/tensor_checks.h"
#include "spng/nodes/roi/level_window.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

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

const Operator apply_regions_linear_op{
    "apply_regions_linear(Tensor signal, Tensor mask, int factor) -> Tensor", apply_regions_linear_cpu};
const Operator apply_regions_restored_op{
    "apply_regions_restored(Tensor signal, Tensor mask, int factor) -> Tensor", apply_regions_restored_cpu};

} // namespace

at::Tensor apply_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    require_rows_and_mask("apply_regions_linear", signal, mask, factor);
    return apply_regions_linear_op(signal, mask, factor);
}

at::Tensor apply_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    require_rows_and_mask("apply_regions_restored", signal, mask, factor);
    return apply_regions_restored_op(signal, mask, factor);
}

} // namespace spng
