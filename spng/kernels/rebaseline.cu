// SPDX-License-Identifier: Apache-2.0
// Charge inside the ROIs (spng/nodes/roi/compact_regions.h). One block per row, one warp per word of its mask (of
// bend_negative: one warp per row): words without ROIs cost one load. Any tick of a run finds its ends by counting
// zeros in a word or two.

#include "spng/kernels/bit_words.cuh"
#include "spng/kernels/block_reduction.cuh"
#include "spng/nodes/roi/level_window.h"

namespace spng::kernels {

SPNG_DEVICE bool is_set(const RowView<Word>& words, Index bit) {
    return (words[bit / word_bits] >> (bit % word_bits) & 1) != 0;
}

/// Iterates over the slices of a thread's ticks: tick threadIdx.x and every block_threads-th after it.
/// Divides once, not for each tick; rows have less than 2^31 ticks.
class SliceOfTicks {
public:
    SPNG_DEVICE explicit SliceOfTicks(unsigned factor)
        : m_factor(factor), m_step(block_threads / factor), m_step_rest(block_threads % factor),
          m_slice(threadIdx.x / factor), m_rest(threadIdx.x % factor) {}

    SPNG_DEVICE unsigned slice() const { return m_slice; }
    SPNG_DEVICE void next() {
        m_slice += m_step;
        m_rest += m_step_rest;
        if (m_rest >= m_factor) {
            m_rest -= m_factor;
            ++m_slice;
        }
    }

private:
    unsigned m_factor, m_step, m_step_rest;
    unsigned m_slice, m_rest; ///< of the current tick
};

/// Return a + b c, rounded once, as the CPU code does on processors since 2013.
SPNG_DEVICE float fused(float a, float b, float c) {
    return fmaf(b, c, a);
}
SPNG_DEVICE double fused(double a, double b, double c) {
    return fma(b, c, a);
}

/// Visit the ticks of a row by all warps of a block: one warp per word of the mask.
/// @param inside    called as inside(tick, slice, position) with the position among the row's ticks inside ROIs
/// @param outside   called as outside(tick) for the other ticks of words that `wants_outside` or have a slice inside
template <bool wants_outside, class Inside, class Outside>
SPNG_DEVICE void visit_row(const Word* mask, Index ticks, Index factor, const Inside& inside,
                           const Outside& outside) {
    const Index words = words_for((ticks + factor - 1) / factor);
    for (Index word = warp_index(); word < words; word += block_warps) {
        const Word flags = mask[word];
        if (!wants_outside && flags == 0) {
            continue;
        }
        unsigned slices_before = 0;
        for (Index other = lane_index(); other < word; other += warp_threads) {
            slices_before += __popcll(mask[other]);
        }
        const Index before = over_warp(slices_before, Add{}) * factor;
        const Index first = word * word_bits * factor;
        const Index left = ticks - first;
        const auto count = static_cast<unsigned>(left < word_bits * factor ? left : word_bits * factor);
        for (unsigned offset = lane_index(); offset < count; offset += warp_threads) {
            const unsigned bit = offset / static_cast<unsigned>(factor);
            if ((flags >> bit & 1) != 0) {
                const Index position = before + __popcll(flags & low_bits(bit)) * factor +
                                       (offset - bit * static_cast<unsigned>(factor));
                inside(first + offset, word * word_bits + bit, position);
            } else {
                outside(first + offset);
            }
        }
    }
}

/// Visit the ticks of a row inside ROIs.
template <class Inside>
SPNG_DEVICE void visit_inside(const Word* mask, Index ticks, Index factor, const Inside& inside) {
    visit_row<false>(mask, ticks, factor, inside, [](Index) {});
}

/// Return the mean over level_ticks from `first` on.
template <class Real>
SPNG_DEVICE Real level(const Real* row, Index first) {
    Real sum = 0;
    for (Index tick = first; tick < first + level_ticks; ++tick) {
        sum += row[tick];
    }
    return sum / level_ticks;
}

/// Return the distance of a level from its ROI.
/// @param gap  ticks to the next ROI on this side
SPNG_DEVICE Index distance_of_level(Index gap) {
    return gap / 2 < level_distance ? gap / 2 : level_distance;
}

template <class Real>
SPNG_DEVICE void compact_regions_linear(const Real* signal, Index row_stride, const Word* mask, Index rows,
                                        Index ticks, Index factor, Real* result) {
    const Index slices = (ticks + factor - 1) / factor;
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const Word* words = mask + row * words_for(slices);
        const RowView<Word> regions(words);
        const Real* in = signal + row * row_stride;
        Real* out = result + row * ticks;
        visit_inside(words, ticks, factor, [=](Index tick, Index slice, Index position) {
            const Index first_slice = find_bit_back(regions, 0, slice, false);
            const Index past_slice = find_bit(regions, slice, slices, false);
            const Index first = first_slice * factor;
            const Index past = past_slice * factor < ticks ? past_slice * factor : ticks;
            // Only the slices that make a difference are searched.
            const Index reach = 2 * level_distance / factor + 1;
            const Index search = first_slice < reach ? 0 : first_slice - reach;
            const Index previous = find_bit_back(regions, search, first_slice, true);
            const Index limit = past_slice + reach < slices ? past_slice + reach : slices;
            const Index next = find_bit(regions, past_slice, limit, true);
            const Index before =
                previous > search ? distance_of_level((first_slice - previous) * factor) : level_distance;
            const Index after = next < limit ? distance_of_level(next * factor - past) : level_distance;
            const Index left_start = first - before - level_ticks / 2;
            const Index right_start = past + after - level_ticks / 2;
            const bool has_left = left_start >= 0 && left_start + level_ticks <= ticks;
            const bool has_right = right_start >= 0 && right_start + level_ticks <= ticks;
            const Real left = has_left ? level(in, left_start) : Real{0};
            const Real right = has_right ? level(in, right_start) : Real{0};
            Real start = has_left ? left : right;
            Real slope = 0;
            if (has_left && has_right) {
                slope = (right - left) / static_cast<Real>(past - first + before + after);
                start = fused(left, slope, static_cast<Real>(before) + Real{0.5});
            }
            out[position] = in[tick] - fused(start, slope, static_cast<Real>(tick - first));
        });
    }
}

/// Bend the baseline of ROIs with a negative sum. One warp per row.
/// @param compacted  rows from compact_regions_linear, changed in place
template <class Real>
SPNG_DEVICE void bend_negative(const Word* mask, Index rows, Index ticks, Index factor, Real* compacted) {
    const Index slices = (ticks + factor - 1) / factor;
    for (Index row = first_row_of_warp(); row < rows; row += rows_of_grid()) {
        const RowView<Word> regions(mask + row * words_for(slices));
        Real* samples = compacted + row * ticks;
        Index past = 0;
        while (true) {
            const Index first = find_bit(regions, past, slices, true);
            if (first == slices) {
                break;
            }
            past = find_bit(regions, first, slices, false);
            const Index count = (past * factor < ticks ? past * factor : ticks) - first * factor;
            RowSum<Real> total;
            Real depth = 0;
            Index lowest = count;
            const auto take = [&](Real sample, Index tick) {
                if (tick < count &&
                    (lowest == count || sample < depth || (sample == depth && tick < lowest))) {
                    depth = sample;
                    lowest = tick;
                }
            };
            for (Index tick = lane_index(); tick < count; tick += warp_threads) {
                total.add(samples[tick]);
                take(samples[tick], tick);
            }
            total = over_warp(total, Add{});
            for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
                const Real sample = from_lane(depth, distance);
                take(sample, from_lane(lowest, distance));
            }
            const Real sum = total.over(1);
            if (sum < 0) {
                const Real part = 4 * sum / (depth * static_cast<Real>(count + 1));
                const Real bend = depth * (part < 1 ? part : Real{1});
                for (Index tick = lane_index(); tick < count; tick += warp_threads) {
                    const Real share =
                        tick <= lowest ? static_cast<Real>(tick + 1) / static_cast<Real>(lowest + 1)
                                       : static_cast<Real>(count - tick) / static_cast<Real>(count - lowest);
                    samples[tick] -= bend * share;
                }
            }
            samples += count;
        }
    }
}

SPNG_KERNEL bend_negative_float32(const Word* mask, Index rows, Index ticks, Index factor, float* compacted) {
    bend_negative(mask, rows, ticks, factor, compacted);
}
SPNG_KERNEL bend_negative_float64(const Word* mask, Index rows, Index ticks, Index factor,
                                  double* compacted) {
    bend_negative(mask, rows, ticks, factor, compacted);
}

template <class Real>
SPNG_DEVICE void compact_regions_restored(const Real* signal, Index row_stride, const Word* mask, Index rows,
                                          Index ticks, Index factor, Real* result) {
    SharedMemory memory;
    BlockReduction reduce(memory);
    const Index words = words_for((ticks + factor - 1) / factor);
    const SliceOfTicks first_slice(static_cast<unsigned>(factor));
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const RowView<Word> regions(mask + row * words);
        const Real* in = signal + row * row_stride;
        Real* out = result + row * ticks;
        unsigned inside[1] = {0};
        for (Index word = threadIdx.x; word < words; word += block_threads) {
            inside[0] += mask[row * words + word] != 0 ? 1 : 0;
        }
        reduce(inside, Add{});
        if (inside[0] == 0) {
            continue; // no sample is wanted, so none is read
        }
        RowSum<Real> total[1];
        unsigned outside[1] = {0};
        SliceOfTicks present = first_slice;
        for (Index tick = threadIdx.x; tick < ticks; tick += block_threads, present.next()) {
            const Real value = in[tick];
            if (!is_set(regions, present.slice())) {
                total[0].add(value);
                ++outside[0];
            }
        }
        reduce(total, Add{});
        reduce(outside, Add{});
        const Real baseline = outside[0] > 0 ? total[0].over(outside[0]) : Real{0};
        visit_inside(mask + row * words, ticks, factor,
                     [=](Index tick, Index, Index position) { out[position] = in[tick] - baseline; });
    }
}

template <class Real>
SPNG_DEVICE void expand_rows(const Real* compacted, Index row_stride, const Word* mask, Index rows,
                             Index ticks, Index factor, Real* result) {
    const Index words = words_for((ticks + factor - 1) / factor);
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const Real* in = compacted + row * row_stride;
        Real* out = result + row * ticks;
        visit_row<true>(
            mask + row * words, ticks, factor,
            [=](Index tick, Index, Index position) { out[tick] = in[position]; },
            [=](Index tick) { out[tick] = 0; });
    }
}

template <class Real>
SPNG_DEVICE void copy_compacted(const Real* compacted, Index row_stride, const Word* mask, Index rows,
                                Index ticks, Index factor, Real* result) {
    const Index words = words_for((ticks + factor - 1) / factor);
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const Real* in = compacted + row * row_stride;
        Real* out = result + row * ticks;
        visit_inside(mask + row * words, ticks, factor,
                     [=](Index, Index, Index position) { out[position] = in[position]; });
    }
}

#define SPNG_ROWS_WITH_REGIONS(name, suffix, Real)                                                           \
    SPNG_KERNEL name##_##suffix(const Real* __restrict__ in, Index row_stride,                               \
                                const Word* __restrict__ mask, Index rows, Index ticks, Index factor,        \
                                Real* __restrict__ result) {                                                 \
        name(in, row_stride, mask, rows, ticks, factor, result);                                             \
    }

SPNG_ROWS_WITH_REGIONS(compact_regions_linear, float32, float)
SPNG_ROWS_WITH_REGIONS(compact_regions_linear, float64, double)
SPNG_ROWS_WITH_REGIONS(compact_regions_restored, float32, float)
SPNG_ROWS_WITH_REGIONS(compact_regions_restored, float64, double)
SPNG_ROWS_WITH_REGIONS(expand_rows, float32, float)
SPNG_ROWS_WITH_REGIONS(expand_rows, float64, double)
SPNG_ROWS_WITH_REGIONS(copy_compacted, float32, float)
SPNG_ROWS_WITH_REGIONS(copy_compacted, float64, double)

} // namespace spng::kernels
