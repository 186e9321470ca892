// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device functions for rows of bits in words (spng/core/bit_words.h).

#include "spng/kernels/device.cuh"

namespace spng::kernels {

SPNG_DEVICE Index words_for(Index bits) {
    return (bits + word_bits - 1) / word_bits;
}

/// Return a word with the lowest `count` (0 to 64) bits set.
SPNG_DEVICE Word low_bits(Index count) {
    return count >= word_bits ? ~Word{0} : (Word{1} << count) - 1;
}

/// Return the mask of the used bits in the word at index `word` of a row of `bits`.
SPNG_DEVICE Word bits_of_row(Index word, Index bits) {
    return low_bits(bits - word * word_bits);
}

/// Combine two flags of each lane into one word; every lane gets it.
SPNG_DEVICE Word word_of_flags(bool first_half, bool second_half) {
    const Word low = __ballot_sync(all_lanes, first_half);
    const Word high = __ballot_sync(all_lanes, second_half);
    return high << 32 | low;
}

/// Pack the flags of one row by the warps of a block: one warp per word, with two ballots.
/// @param is_set  function of the tick, called only for ticks of the row
/// @param store   function of a word's index and its flags, called by one lane
template <class IsSet, class Store>
SPNG_DEVICE void pack_row(Index ticks, const IsSet& is_set, const Store& store) {
    const Index words = words_for(ticks);
    for (Index word = warp_index(); word < words; word += block_warps) {
        const Index first = word * word_bits + lane_index();
        const Index second = first + warp_threads;
        const Word flags = word_of_flags(first < ticks && is_set(first), second < ticks && is_set(second));
        if (lane_index() == 0) {
            store(word, flags);
        }
    }
}

/// Return the first bit in [begin, end) that equals `value`, or `end` if there is none.
template <class Row>
SPNG_DEVICE Index find_bit(const Row& words, Index begin, Index end, bool value) {
    while (begin < end) {
        const Index offset = begin % word_bits;
        const Word word = words[begin / word_bits];
        const Word left = (value ? word : ~word) >> offset;
        if (left != 0) {
            const Index found = begin + __ffsll(static_cast<Index>(left)) - 1;
            return found < end ? found : end;
        }
        begin += word_bits - offset;
    }
    return end;
}

/// Return one past the last bit in [begin, end) that equals `value`, or `begin` if there is none.
template <class Row>
SPNG_DEVICE Index find_bit_back(const Row& words, Index begin, Index end, bool value) {
    while (begin < end) {
        const Index length = (end - 1) % word_bits + 1;
        const Word word = words[(end - 1) / word_bits];
        const Word left = (value ? word : ~word) << (word_bits - length);
        if (left != 0) {
            const Index past = end - __clzll(static_cast<Index>(left));
            return past > begin ? past : begin;
        }
        end -= length;
    }
    return begin;
}

} // namespace spng::kernels
