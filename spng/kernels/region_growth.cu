// SPDX-License-Identifier: Apache-2.0
// ROIs from seeds, and confirmed runs (spng/nodes/roi/region_growth.h): one warp per row, 64 ticks per lane.

#include "spng/kernels/row_scan.cuh"

namespace spng::kernels {

/// An index before any row, even with the largest padding.
constexpr Index out_of_reach = -(Index{1} << 62);

/// Three passes, each with carries in one direction: flood from seeds to later ticks; flood to earlier ticks
/// and widen by `pad_before`; widen by `pad_after`. The result holds the words between the passes; each lane
/// reads only its own words.
SPNG_KERNEL grow_regions(const Word* seeds, const Word* level, Index rows, Index ticks, Index pad_before,
                         Index pad_after, Word* regions) {
    const Index words = words_for(ticks);
    const Index chunks = (words + warp_threads - 1) / warp_threads;
    for (Index row = first_row_of_warp(); row < rows; row += rows_of_grid()) {
        const Word* seed = seeds + row * words;
        const Word* also_open = level + row * words;
        Word* out = regions + row * words;
        bool carry = false;
        for (Index chunk = 0; chunk < chunks; ++chunk) {
            const Index word = chunk * warp_threads + lane_index();
            const Word own = word < words ? seed[word] : 0;
            const Word open = word < words ? own | also_open[word] : 0;
            const Word flooded = flooded_up(open, own, carry);
            if (word < words) {
                out[word] = flooded;
            }
        }
        carry = false;
        Index latest = out_of_reach;
        for (Index chunk = chunks - 1; chunk >= 0; --chunk) {
            const Index word = chunk * warp_threads + lane_index();
            const Word own = word < words ? out[word] : 0;
            const Word open = word < words ? seed[word] | also_open[word] : 0;
            const Word grown = flooded_down(open, own, carry);
            // To widen to earlier ticks, reverse the row, bits and lanes, and widen to later ticks.
            const Word turned = __shfl_xor_sync(all_lanes, __brevll(grown), warp_threads - 1);
            const Word wider = widened_up(turned, (chunks - 1 - chunk) * warp_threads, pad_before, latest);
            const Word widened = __shfl_xor_sync(all_lanes, __brevll(wider), warp_threads - 1);
            if (word < words) {
                out[word] = widened;
            }
        }
        latest = out_of_reach;
        for (Index chunk = 0; chunk < chunks; ++chunk) {
            const Index word = chunk * warp_threads + lane_index();
            const Word own = word < words ? out[word] : 0;
            const Word widened = widened_up(own, chunk * warp_threads, pad_after, latest);
            if (word < words) {
                out[word] = widened & bits_of_row(word, ticks);
            }
        }
    }
}

/// Each lane follows the runs that begin in its word to their ends and marks the first tick of those to keep.
/// The marks then flood their runs.
SPNG_KERNEL confirmed_runs(const Word* runs, const Word* confirmed, const Word* lone, Index rows, Index ticks,
                           double fraction, Word* kept) {
    const Index words = words_for(ticks);
    const Index chunks = (words + warp_threads - 1) / warp_threads;
    for (Index row = first_row_of_warp(); row < rows; row += rows_of_grid()) {
        const Word* run = runs + row * words;
        const Word* sure = confirmed + row * words;
        const Word* alone = lone + row * words;
        bool carry = false;
        for (Index chunk = 0; chunk < chunks; ++chunk) {
            const Index word = chunk * warp_threads + lane_index();
            const Word own = word < words ? run[word] : 0;
            const Word before = own != 0 && word > 0 ? run[word - 1] >> (word_bits - 1) : 0;
            Word marks = 0;
            for (Word starts = own & ~(own << 1 | before); starts != 0; starts &= starts - 1) {
                const Index bit = __ffsll(static_cast<Index>(starts)) - 1;
                const Index first = word * word_bits + bit;
                const Index past = find_bit(run, first, ticks, false);
                Index count = 0;
                bool has_lone = false;
                for (Index part = word; part * word_bits < past; ++part) {
                    const Word in_run =
                        low_bits(past - part * word_bits) & (part == word ? ~Word{0} << bit : ~Word{0});
                    count += __popcll(sure[part] & in_run);
                    has_lone = has_lone || (alone[part] & in_run) != 0;
                }
                // Use one multiplication per run, as on the CPU, so that ties do not depend on the device.
                const bool stays = static_cast<double>(count) >= fraction * static_cast<double>(past - first);
                marks |= stays || has_lone ? starts & (~starts + 1) : 0;
            }
            const Word flooded = flooded_up(own, marks, carry);
            if (word < words) {
                kept[row * words + word] = flooded;
            }
        }
    }
}

} // namespace spng::kernels
