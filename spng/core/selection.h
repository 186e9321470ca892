// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exact order statistics of one row without sorting or moving it: bisection between the smallest and the
// largest value, where each step counts the samples at or below the middle. Counting runs at full vector
// width, so a dozen passes over a row in the first-level cache cost less than one histogram. Real samples are
// compared as integers of the same order. For use inside SPNG_MULTIVERSION kernels. Rows must be finite.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace spng {

/// Return an integer of the same order as the sample: the sample itself, or the bits of a real sample, with
/// the magnitude of negative ones reversed. -0 comes before +0.
[[gnu::always_inline]] inline std::int16_t ordered_key(std::int16_t sample) {
    return sample;
}
[[gnu::always_inline]] inline std::int32_t ordered_key(float sample) {
    const auto bits = std::bit_cast<std::int32_t>(sample);
    return bits ^ ((bits >> 31) & std::numeric_limits<std::int32_t>::max());
}
[[gnu::always_inline]] inline std::int64_t ordered_key(double sample) {
    const auto bits = std::bit_cast<std::int64_t>(sample);
    return bits ^ ((bits >> 63) & std::numeric_limits<std::int64_t>::max());
}

/// Return the sample of a key.
[[gnu::always_inline]] inline std::int16_t sample_of_key(std::int16_t key) {
    return key;
}
[[gnu::always_inline]] inline float sample_of_key(std::int32_t key) {
    return std::bit_cast<float>(key ^ ((key >> 31) & std::numeric_limits<std::int32_t>::max()));
}
[[gnu::always_inline]] inline double sample_of_key(std::int64_t key) {
    return std::bit_cast<double>(key ^ ((key >> 63) & std::numeric_limits<std::int64_t>::max()));
}

template <class Sample>
using OrderedKey = decltype(ordered_key(Sample{}));

template <class Key>
struct KeyRange {
    Key low;
    Key high;
};

/// Return the smallest and the largest of `count` (> 0) keys.
template <class Key>
[[gnu::always_inline]] inline KeyRange<Key> range_of_keys(const Key* keys, std::int64_t count) {
    KeyRange<Key> range{keys[0], keys[0]};
    for (std::int64_t index = 0; index < count; ++index) {
        range.low = keys[index] < range.low ? keys[index] : range.low;
        range.high = keys[index] > range.high ? keys[index] : range.high;
    }
    return range;
}

template <class Key>
[[gnu::always_inline]] inline std::int64_t count_at_most(const Key* keys, std::int64_t count, Key pivot) {
    // Counters as wide as the keys fill whole registers. A block is short enough to count in int16.
    constexpr std::int64_t block = 1 << 14;
    std::int64_t total = 0;
    for (std::int64_t begin = 0; begin < count; begin += block) {
        const std::int64_t end = begin + block < count ? begin + block : count;
        Key found = 0;
        for (std::int64_t index = begin; index < end; ++index) {
            found = static_cast<Key>(found + (keys[index] <= pivot));
        }
        total += found;
    }
    return total;
}

/// Return the key at index `rank` of the sorted row.
/// @param keys   `count` keys, in any order
/// @param rank   0 to count - 1
/// @param range  bounds of that key, both included
template <class Key>
[[gnu::always_inline]] inline Key select_key(const Key* keys, std::int64_t count, std::int64_t rank,
                                             KeyRange<Key> range) {
    using Distance = std::make_unsigned_t<Key>;
    Key low = range.low;
    Key high = range.high;
    while (low < high) {
        const auto width = static_cast<Distance>(static_cast<Distance>(high) - static_cast<Distance>(low));
        const auto middle = static_cast<Key>(low + static_cast<Key>(width / 2));
        const std::int64_t found = count_at_most(keys, count, middle);
        if (found == rank + 1) {
            // The middle separates the wanted key from the next one. This is usual for real samples and saves
            // half of the steps.
            Key largest = low;
            for (std::int64_t index = 0; index < count; ++index) {
                const Key candidate = keys[index] <= middle ? keys[index] : low;
                largest = candidate > largest ? candidate : largest;
            }
            return largest;
        }
        if (found > rank) {
            high = middle;
        } else {
            low = static_cast<Key>(middle + 1);
        }
    }
    return low;
}

} // namespace spng
