#pragma once
// Scans along a row of bits by one warp: 32 words at a time, what goes on from one word to the next in all of
// them at once, with a carry to the next 32. "Up" is towards later ticks.

#include "spng/kernels/bit_words.cuh"

namespace spng::kernels {

/// Bit i is set where a carry enters word i, given which words make one by themselves and which hand on the
/// one that enters them (never both): the carries of an addition, all at once. Bit 32 is what leaves the last
/// word.
SPNG_DEVICE Word carries(unsigned made, unsigned handed_on, bool entering) {
    const Word starts = static_cast<Word>(made) << 1 | static_cast<Word>(entering);
    return (static_cast<Word>(handed_on) + starts) ^ handed_on;
}

/// The bits of `open` at or after a seed of the same run, for 32 words of a warp. Seeds are open too.
/// Adding the seeds to the open bits makes a carry ripple from the first seed of a run to its end: what
/// changes, and the seeds, are the answer. Runs go on across words as carries do.
/// @param carry  whether a flood enters the first word; afterwards, whether one leaves the last
SPNG_DEVICE Word flooded_up(Word open, Word seeds, bool& carry) {
    const Word sum = open + seeds;
    const Word into =
        carries(__ballot_sync(all_lanes, sum < open), __ballot_sync(all_lanes, sum == ~Word{0}), carry);
    carry = (into >> warp_threads & 1) != 0;
    const Word flooded = sum + (into >> lane_number() & 1);
    return open & ((flooded ^ open) | seeds);
}

/// The same towards earlier ticks: words and lanes are looked at from their ends.
SPNG_DEVICE Word flooded_down(Word open, Word seeds, bool& carry) {
    const Word reversed_open = __brevll(open);
    const Word reversed_seeds = __brevll(seeds);
    const Word sum = reversed_open + reversed_seeds;
    const Word into = carries(__brev(__ballot_sync(all_lanes, sum < reversed_open)),
                              __brev(__ballot_sync(all_lanes, sum == ~Word{0})), carry);
    carry = (into >> warp_threads & 1) != 0;
    const Word flooded = sum + (into >> (warp_threads - 1 - lane_number()) & 1);
    return __brevll(reversed_open & ((flooded ^ reversed_open) | reversed_seeds));
}

/// Each bit and `count` ones after it, within the word.
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

/// Each bit and `count` ones after it, for the 32 words from `first_word` on.
/// @param latest  the last bit set before these words, or so far back that it reaches nothing; afterwards, of
/// these too
SPNG_DEVICE Word widened_up(Word word, Index first_word, Index count, Index& latest) {
    const unsigned filled = __ballot_sync(all_lanes, word != 0);
    const Index last = word == 0 ? 0
                                 : (first_word + lane_number()) * word_bits + word_bits - 1 -
                                       __clzll(static_cast<Index>(word));
    const unsigned before = filled & ((1u << lane_number()) - 1);
    // The nearest filled word below: its lane number is the place of the highest bit of `before`.
    const Index nearest =
        __shfl_sync(all_lanes, last, before == 0 ? 0 : 63 - __clzll(static_cast<Index>(before)));
    const Index reach = (before == 0 ? latest : nearest) + count - (first_word + lane_number()) * word_bits;
    const Index newest =
        __shfl_sync(all_lanes, last, filled == 0 ? 0 : 63 - __clzll(static_cast<Index>(filled)));
    latest = filled == 0 ? latest : newest;
    return smeared_up(word, count) | (reach < 0 ? Word{0} : low_bits(reach + 1));
}

} // namespace spng::kernels
