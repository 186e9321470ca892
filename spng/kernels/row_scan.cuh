// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scans along a row of bits by one warp: 32 words at a time, with carries between them computed at once, and
// one carry to the next 32 words. "Up" means towards later ticks.

#include "spng/kernels/bit_words.cuh"

namespace spng::kernels {

/// Compute the carries of an addition over 32 words at once.
/// @param generated   bit i: word i generates a carry
/// @param propagated  bit i: word i passes on a carry that enters it (never together with `generated`)
/// @return bit i: a carry enters word i; bit 32: a carry leaves the last word
SPNG_DEVICE Word carries(unsigned generated, unsigned propagated, bool entering) {
    const Word starts = static_cast<Word>(generated) << 1 | static_cast<Word>(entering);
    return (static_cast<Word>(propagated) + starts) ^ propagated;
}

/// Return the bits of `open` at or after a seed of the same run, for the 32 words of a warp. Seeds must be
/// open. Adding the seeds to the open bits makes a carry ripple from the first seed of a run to its end: the
/// result is the seeds and the bits that change. Runs continue across words as carries do.
/// @param carry  in: a flood enters the first word; out: a flood leaves the last word
SPNG_DEVICE Word flooded_up(Word open, Word seeds, bool& carry) {
    const Word sum = open + seeds;
    const Word into =
        carries(__ballot_sync(all_lanes, sum < open), __ballot_sync(all_lanes, sum == ~Word{0}), carry);
    carry = (into >> warp_threads & 1) != 0;
    const Word flooded = sum + (into >> lane_index() & 1);
    return open & ((flooded ^ open) | seeds);
}

/// The same towards earlier ticks: reverses the bits of words and the order of lanes.
SPNG_DEVICE Word flooded_down(Word open, Word seeds, bool& carry) {
    const Word reversed_open = __brevll(open);
    const Word reversed_seeds = __brevll(seeds);
    const Word sum = reversed_open + reversed_seeds;
    const Word into = carries(__brev(__ballot_sync(all_lanes, sum < reversed_open)),
                              __brev(__ballot_sync(all_lanes, sum == ~Word{0})), carry);
    carry = (into >> warp_threads & 1) != 0;
    const Word flooded = sum + (into >> (warp_threads - 1 - lane_index()) & 1);
    return __brevll(reversed_open & ((flooded ^ reversed_open) | reversed_seeds));
}

/// Set the `count` bits after each set bit, within the word.
SPNG_DEVICE Word smeared_up(Word word, Index count) {
    Index covered = 1;
    const Index wanted = (count < word_bits ? count : word_bits - 1) + 1;
    while (covered < wanted) {
        const Index shift = covered < wanted - covered ? covered : wanted - covered;
        word |= word << shift;
        covered += shift;
    }
    return word;
}

/// Set the `count` bits after each set bit, for the 32 words from `first_word` on.
/// @param latest  in: index of the last set bit before these words, or far enough back to have no effect;
/// out: the same including these words
SPNG_DEVICE Word widened_up(Word word, Index first_word, Index count, Index& latest) {
    const unsigned filled = __ballot_sync(all_lanes, word != 0);
    const Index last = word == 0 ? 0
                                 : (first_word + lane_index()) * word_bits + word_bits - 1 -
                                       __clzll(static_cast<Index>(word));
    const unsigned before = filled & ((1u << lane_index()) - 1);
    // The nearest filled word before: the index of its lane is the position of the highest bit of `before`.
    const Index nearest =
        __shfl_sync(all_lanes, last, before == 0 ? 0 : 63 - __clzll(static_cast<Index>(before)));
    const Index reach = (before == 0 ? latest : nearest) + count - (first_word + lane_index()) * word_bits;
    const Index newest =
        __shfl_sync(all_lanes, last, filled == 0 ? 0 : 63 - __clzll(static_cast<Index>(filled)));
    latest = filled == 0 ? latest : newest;
    return smeared_up(word, count) | (reach < 0 ? Word{0} : low_bits(reach + 1));
}

} // namespace spng::kernels
