// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of bits in 64-bit words: bit (i mod 64) of word (i / 64) is sample i; bits past the last sample are 0.
// Packing and unpacking move eight samples with one multiplication. This needs no vector instructions and is
// fast enough: the rows of an anode take well under a millisecond.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace spng {

static_assert(std::endian::native == std::endian::little, "bytes and bits are paired in little-endian order");

constexpr std::int64_t bits_per_word = 64;

/// Return the number of words that hold `bits` bits.
constexpr std::int64_t words_for(std::int64_t bits) {
    return (bits + bits_per_word - 1) / bits_per_word;
}

/// Return the mask of the used bits in the last word of a row of `bits` (> 0) samples.
constexpr std::uint64_t last_word_bits(std::int64_t bits) {
    const std::int64_t used = bits % bits_per_word;
    return used == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
}

/// Pack eight bytes that are 0 or 1 into eight bits. The product moves byte i to bit 56 + i.
inline std::uint64_t bits_of_bytes(const std::uint8_t* bytes) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes, sizeof eight);
    return (eight * 0x0102040810204080u) >> 56;
}

/// Unpack eight bits into eight bytes that are 0 or 1. Byte i keeps bit i of a copy; adding 0x7f carries that
/// bit to the top of the byte.
inline void bytes_of_bits(std::uint64_t bits, std::uint8_t* bytes) {
    const std::uint64_t kept = ((bits & 0xff) * 0x0101010101010101u) & 0x8040201008040201u;
    const std::uint64_t eight = ((kept + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
    std::memcpy(bytes, &eight, sizeof eight);
}

/// Pack `count` bytes that are 0 or 1 into words_for(count) words.
inline void pack_row(const std::uint8_t* bytes, std::int64_t count, std::uint64_t* words) {
    std::int64_t first = 0;
    for (; first + bits_per_word <= count; first += bits_per_word) {
        std::uint64_t word = 0;
        for (int byte = 0; byte < 8; ++byte) {
            word |= bits_of_bytes(bytes + first + 8 * byte) << (8 * byte);
        }
        *words++ = word;
    }
    if (first < count) {
        std::uint8_t rest[bits_per_word] = {};
        std::memcpy(rest, bytes + first, count - first);
        pack_row(rest, bits_per_word, words);
    }
}

/// Unpack the first `count` bits of a row of words into `count` bytes that are 0 or 1.
inline void unpack_row(const std::uint64_t* words, std::int64_t count, std::uint8_t* bytes) {
    std::int64_t first = 0;
    for (; first + bits_per_word <= count; first += bits_per_word) {
        const std::uint64_t word = *words++;
        for (int byte = 0; byte < 8; ++byte) {
            bytes_of_bits(word >> (8 * byte), bytes + first + 8 * byte);
        }
    }
    if (first < count) {
        std::uint8_t rest[bits_per_word];
        unpack_row(words, bits_per_word, rest);
        std::memcpy(bytes + first, rest, count - first);
    }
}

/// Set the bits [begin, end).
inline void set_bits(std::uint64_t* words, std::int64_t begin, std::int64_t end) {
    while (begin < end) {
        const std::int64_t offset = begin % bits_per_word;
        const std::int64_t length = std::min(end - begin, bits_per_word - offset);
        words[begin / bits_per_word] |= last_word_bits(length) << offset;
        begin += length;
    }
}

/// Return the first i in [begin, end) whose bit equals `value`, or `end` if there is none.
inline std::int64_t find_bit(const std::uint64_t* words, std::int64_t begin, std::int64_t end, bool value) {
    while (begin < end) {
        const std::uint64_t word = words[begin / bits_per_word];
        const std::uint64_t left = (value ? word : ~word) >> (begin % bits_per_word);
        if (left != 0) {
            return std::min(end, begin + std::countr_zero(left));
        }
        begin += bits_per_word - begin % bits_per_word;
    }
    return end;
}

/// Return one past the last i in [begin, end) whose bit equals `value`, or `begin` if there is none.
inline std::int64_t find_bit_back(const std::uint64_t* words, std::int64_t begin, std::int64_t end,
                                  bool value) {
    while (begin < end) {
        const std::uint64_t word = words[(end - 1) / bits_per_word];
        const std::int64_t length = (end - 1) % bits_per_word + 1;
        const std::uint64_t left = (value ? word : ~word) << (bits_per_word - length);
        if (left != 0) {
            return std::max(begin, end - std::countl_zero(left));
        }
        end -= length;
    }
    return begin;
}

/// Count the set bits in [begin, end).
inline std::int64_t count_bits(const std::uint64_t* words, std::int64_t begin, std::int64_t end) {
    std::int64_t count = 0;
    while (begin < end) {
        const std::int64_t offset = begin % bits_per_word;
        const std::int64_t length = std::min(end - begin, bits_per_word - offset);
        count += std::popcount(words[begin / bits_per_word] & (last_word_bits(length) << offset));
        begin += length;
    }
    return count;
}

} // namespace spng
