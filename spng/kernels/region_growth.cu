// SPDX-License-Identifier: Apache-2.0
// ROIs from seeds, and confirmed runs (spng/nodes/roi/region_growth.h): one warp per row, 64 ticks per lane.

#include "spng/kernels/row_scan.cuh"

namespace spng::kernels {

/// An index before any row, even with the largest padding.
constexpr Index out_of_reach = -(Index{1} << 62);

/// Store a row that is widened by `pad` ticks on both sides, in two passes with carries in one direction each. The
/// result holds the words between them; each lane reads only its own words.
/// @param word_at  function of a word's index: the row before; may read the lane's own words of `out`
template <class WordAt>
SPNG_DEVICE void store_widened(const WordAt& word_at, Index ticks, Index pad, Word* out) {
    const Index words = words_for(ticks);
    const Index chunks = (words + warp_threads - 1) / warp_threads;
    Index latest = out_of_reach;
    for (Index chunk = chunks - 1; chunk >= 0; --chunk) {
        const Index word = chunk * warp_threads + lane_index();
        const Word own = word < words ? word_at(word) : 0;
        // To widen to earlier ticks, reverse the row, bits and lanes, and widen to later ticks.
        const Word turned = __shfl_xor_sync(all_lanes, __brevll(own), warp_threads - 1);
        const Word wider = widened_up(turned, (chunks - 1 - chunk) * warp_threads, pad, latest);
        const Word widened = __shfl_xor_sync(all_lanes, __brevll(wider), warp_threads - 1);
        if (word < words) {
            out[word] = widened;
        }
    }
    latest = out_of_reach;
    for (Index chunk = 0; chunk < chunks; ++chunk) {
        const Index word = chunk * warp_threads + lane_index();
        const Word own = word < words ? out[word] : 0;
        const Word widened = widened_up(own, chunk * warp_threads, pad, latest);
        if (word < words) {
            out[word] = widened & bits_of_row(word, ticks);
        }
    }
}

/// The masks of a row.
struct LevelsOfRow {
    const Word* levels;                   ///< word 0 of the row in level 0
    Index stride;                         ///< words from one level to the next
    const Word *first_sure, *second_sure; ///< their OR confirms; 0: none

    SPNG_DEVICE Word any(Word set, Index word) const {
        Word found = 0;
        for (; set != 0; set &= set - 1) {
            found |= levels[(__ffsll(static_cast<Index>(set)) - 1) * stride + word];
        }
        return found;
    }
    SPNG_DEVICE Word sure(Index word) const {
        return (first_sure == nullptr ? 0 : first_sure[word]) |
               (second_sure == nullptr ? 0 : second_sure[word]);
    }
};

/// A pass of the growth.
struct Pass {
    Word seeds, lone; ///< sets of levels
    Index grow;       ///< level
    double fraction;
    bool by_seed, by_run; ///< what must be confirmed
};

/// Return the seeds of a pass.
SPNG_DEVICE Word seed_of(const LevelsOfRow& row, const Pass& pass, Index word) {
    const Word seeds = row.any(pass.seeds, word);
    return pass.by_seed ? (seeds & row.sure(word)) | row.any(pass.lone, word) : seeds;
}

/// Return a bit at the first tick of each run that begins in this word of `runs` and is confirmed along enough
/// of its length or has a lone seed.
SPNG_DEVICE Word marks_of_runs(const LevelsOfRow& row, const Pass& pass, const Word* runs, Index word,
                               Index ticks) {
    const Word own = runs[word];
    const Word before = own != 0 && word > 0 ? runs[word - 1] >> (word_bits - 1) : 0;
    Word marks = 0;
    for (Word starts = own & ~(own << 1 | before); starts != 0; starts &= starts - 1) {
        const Index bit = __ffsll(static_cast<Index>(starts)) - 1;
        const Index first = word * word_bits + bit;
        const Index past = find_bit(runs, first, ticks, false);
        Index count = 0;
        bool has_lone = false;
        for (Index part = word; part * word_bits < past; ++part) {
            const Word in_run =
                low_bits(past - part * word_bits) & (part == word ? ~Word{0} << bit : ~Word{0});
            count += __popcll(row.sure(part) & in_run);
            has_lone = has_lone || (row.any(pass.lone, part) & in_run) != 0;
        }
        // Use one multiplication per run, as on the CPU, so that ties do not depend on the device.
        const bool stays = static_cast<double>(count) >= pass.fraction * static_cast<double>(past - first);
        marks |= stays || has_lone ? starts & (~starts + 1) : 0;
    }
    return marks;
}

/// Grow seeds in a level: flood from the seeds to later ticks, then to earlier ticks. Each lane reads and writes only
/// its own words.
/// @param seed_at  function of a word's index: the seeds
/// @param level    word 0 of the row in the level
/// @param runs     room for a row
/// @param keep     function of a word's index and of the grown word
template <class SeedAt, class Keep>
SPNG_DEVICE void grow_seeds(const SeedAt& seed_at, const Word* level, Index ticks, Word* runs,
                            const Keep& keep) {
    const Index words = words_for(ticks);
    const Index chunks = (words + warp_threads - 1) / warp_threads;
    bool carry = false;
    for (Index chunk = 0; chunk < chunks; ++chunk) {
        const Index word = chunk * warp_threads + lane_index();
        const Word own = word < words ? seed_at(word) : 0;
        const Word flooded = flooded_up(word < words ? own | level[word] : 0, own, carry);
        if (word < words) {
            runs[word] = flooded;
        }
    }
    carry = false;
    for (Index chunk = chunks - 1; chunk >= 0; --chunk) {
        const Index word = chunk * warp_threads + lane_index();
        const Word own = word < words ? runs[word] : 0;
        const Word grown = flooded_down(word < words ? seed_at(word) | level[word] : 0, own, carry);
        if (word < words) {
            keep(word, grown);
        }
    }
}

/// Find the runs of a pass, and add them to `out`. To confirm runs, marks the first tick of each run to keep and
/// floods from the marks.
/// @param runs  room for a row, shared by the lanes of the warp only while runs are confirmed
/// @param is_first  overwrite `out`
SPNG_DEVICE void grow_pass(const LevelsOfRow& row, const Pass& pass, Index ticks, Word* runs, bool is_first,
                           Word* out) {
    grow_seeds([&](Index word) { return seed_of(row, pass, word); }, row.levels + pass.grow * row.stride,
               ticks, runs,
               [&](Index word, Word grown) {
                   if (pass.by_run) {
                       runs[word] = grown;
                   } else {
                       out[word] = is_first ? grown : out[word] | grown;
                   }
               });
    if (!pass.by_run) {
        return;
    }
    __syncwarp(); // lanes read the words of others
    const Index words = words_for(ticks);
    const Index chunks = (words + warp_threads - 1) / warp_threads;
    bool carry = false;
    for (Index chunk = 0; chunk < chunks; ++chunk) {
        const Index word = chunk * warp_threads + lane_index();
        const Word own = word < words ? runs[word] : 0;
        const Word marks = own != 0 ? marks_of_runs(row, pass, runs, word, ticks) : 0;
        const Word kept = flooded_up(own, marks, carry);
        if (word < words) {
            out[word] = is_first ? kept : out[word] | kept;
        }
    }
    __syncwarp(); // the next pass overwrites the runs
}

/// Grow the seeds of all passes.
/// @param levels             (level, row, word)
/// @param sure, second_sure  the OR of both confirms; 0: none; both 0: nothing needs confirmation
/// @param always             set of levels that belong to the ROIs
/// @param runs               (row, word), for intermediate results
/// @param core               (row, word), the runs of the first pass; 0: they belong to `regions`
/// @param regions            (row, word), widened by `pad` if `core` is 0
SPNG_KERNEL grow_regions(const Word* levels, const Word* sure, const Word* second_sure, Index rows,
                         Index ticks, SPNG_LIST(Word, max_passes) seeds, SPNG_LIST(Word, max_passes) lone,
                         SPNG_LIST(Index, max_passes) grow, SPNG_LIST(double, max_passes) fractions,
                         int passes, Word always, Index pad, Word* runs, Word* core, Word* regions) {
    const Index words = words_for(ticks);
    const bool is_confirmed = sure != nullptr;
    for (Index row = first_row_of_warp(); row < rows; row += rows_of_grid()) {
        const Index first = row * words;
        const LevelsOfRow masks{levels + first, rows * words, is_confirmed ? sure + first : nullptr,
                                second_sure == nullptr ? nullptr : second_sure + first};
        Word* out = regions + first;
        for (Index word = lane_index(); word < words; word += warp_threads) {
            out[word] = masks.any(always, word);
        }
        for (int i = 0; i < passes; ++i) {
            const double fraction = fractions.at[i];
            const Pass pass{seeds.at[i],
                            lone.at[i],
                            grow.at[i],
                            fraction,
                            is_confirmed && fraction == 0,
                            is_confirmed && fraction > 0};
            const bool is_core = i == 0 && core != nullptr;
            grow_pass(masks, pass, ticks, runs + first, is_core, is_core ? core + first : out);
        }
        if (core == nullptr) {
            store_widened([=](Index word) { return out[word]; }, ticks, pad, out);
        }
    }
}

/// Add the samples and the seeds beside the ROIs of the first pass, and widen all.
/// @param levels         (level, row, word)
/// @param core, regions  as from grow_regions; the result replaces `regions`
/// @param seeds, grow    of the first pass: a seed beside an ROI grows without confirmation
/// @param beside         level in which confirmed samples beside an ROI belong to it
/// @param runs           (row, word), for intermediate results
SPNG_KERNEL join_neighbours(const Word* levels, const Word* core, const Word* sure, const Word* second_sure,
                            Index rows, Index channels, Index ticks, Word seeds, Index grow, Index beside,
                            int cyclic, Index pad, Word* runs, Word* regions) {
    const Index words = words_for(ticks);
    for (Index row = first_row_of_warp(); row < rows; row += rows_of_grid()) {
        const RowsBeside beside_row = rows_beside(row, channels, cyclic != 0);
        const Word* before = core + beside_row.before * words;
        const Word* after = core + beside_row.after * words;
        const Index first = row * words;
        const LevelsOfRow masks{levels + first, rows * words, sure + first,
                                second_sure == nullptr ? nullptr : second_sure + first};
        const auto near = [=](Index word) { return before[word] | after[word]; };
        Word* out = regions + first;
        grow_seeds([&](Index word) { return masks.any(seeds, word) & near(word); },
                   masks.levels + grow * masks.stride, ticks, runs + first,
                   [&](Index word, Word grown) {
                       out[word] |=
                           grown | core[first + word] |
                           (near(word) & masks.sure(word) & masks.levels[beside * masks.stride + word]);
                   });
        store_widened([=](Index word) { return out[word]; }, ticks, pad, out);
    }
}

} // namespace spng::kernels
