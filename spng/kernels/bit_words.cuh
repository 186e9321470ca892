#pragma once
// Rows of bits in words (spng/core/bit_words.h) for threads of a device.

#include "spng/kernels/device.cuh"

namespace spng::kernels {

SPNG_DEVICE Index words_for(Index bits) {
    return (bits + word_bits - 1) / word_bits;
}

/// The lowest `count` (0 to 64) bits.
SPNG_DEVICE Word low_bits(Index count) {
    return count >= word_bits ? ~Word{0} : (Word{1} << count) - 1;
}

/// The bits of word number `word` that are samples of a row of `bits`.
SPNG_DEVICE Word bits_of_row(Index word, Index bits) {
    return low_bits(bits - word * word_bits);
}

/// One word of flags, two of each lane's; every lane gets it.
SPNG_DEVICE Word word_of_flags(bool first_half, bool second_half) {
    const Word low = __ballot_sync(all_lanes, first_half);
    const Word high = __ballot_sync(all_lanes, second_half);
    return high << 32 | low;
}

/// The flags of one row in words, by the warps of a block: a warp for each word, which is two ballots.
/// @param is_set  function of the tick, asked for ticks of the row only
/// @param store   function of a word's number and its flags, called by one lane
template <class IsSet, class Store>
SPNG_DEVICE void pack_row(Index ticks, const IsSet& is_set, const Store& store) {
    const Index words = words_for(ticks);
    for (Index word = warp_number(); word < words; word += block_warps) {
        const Index first = word * word_bits + lane_number();
        const Index second = first + warp_threads;
        const Word flags = word_of_flags(first < ticks && is_set(first), second < ticks && is_set(second));
        if (lane_number() == 0) {
            store(word, flags);
        }
    }
}

/// The first bit in [begin, end) that equals `value`, or `end`.
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

/// One past the last bit in [begin, end) that equals `value`, or `begin`.
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
