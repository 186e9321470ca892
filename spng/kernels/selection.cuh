// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exact order statistics of one row by the threads of a block or of a warp, as in spng/core/selection.h for
// the CPU: bisection between the smallest and the largest key, where each step counts the samples at or below
// the middle, until the middle is next to the wanted key. int16 ADC with noise needs seven or eight steps,
// real samples about 5 plus the binary logarithm of their count. Unlike a histogram this needs no atomics,
// which the few distinct values of a channel with low noise would serialise.

#include "spng/kernels/block_reduction.cuh"

namespace spng::kernels {

/// Integer of the same order as a sample; -0 comes before +0.
template <class Sample>
struct OrderedKey;

template <>
struct OrderedKey<short> {
    using Key = int;
    using Distance = unsigned;
    static constexpr Key lowest = -32768, highest = 32767;
    static SPNG_DEVICE Key of(short sample) { return sample; }
    static SPNG_DEVICE short sample(Key key) { return static_cast<short>(key); }
};

template <>
struct OrderedKey<float> {
    using Key = int;
    using Distance = unsigned;
    static constexpr Key highest = 0x7fffffff, lowest = -highest - 1;
    static SPNG_DEVICE Key of(float sample) {
        const Key bits = __float_as_int(sample);
        return bits ^ ((bits >> 31) & highest);
    }
    static SPNG_DEVICE float sample(Key key) { return __int_as_float(key ^ ((key >> 31) & highest)); }
};

template <>
struct OrderedKey<double> {
    using Key = Index;
    using Distance = Word;
    static constexpr Key highest = 0x7fffffffffffffff, lowest = -highest - 1;
    static SPNG_DEVICE Key of(double sample) {
        const Key bits = __double_as_longlong(sample);
        return bits ^ ((bits >> 63) & highest);
    }
    static SPNG_DEVICE double sample(Key key) { return __longlong_as_double(key ^ ((key >> 63) & highest)); }
};

/// Set `range` to the smallest key of the row and the smallest complement, which is that of the largest key.
template <class Sample, class Key, class Reduction>
SPNG_DEVICE void extreme_keys(const RowView<Sample>& row, Index ticks, Reduction& reduce, Key (&range)[2]) {
    for (Index tick = Reduction::thread(); tick < ticks; tick += Reduction::threads) {
        const Key key = OrderedKey<Sample>::of(row[tick]);
        range[0] = key < range[0] ? key : range[0];
        range[1] = ~key < range[1] ? ~key : range[1];
    }
    reduce(range, Smaller{});
}

/// Set high[k] to the smallest key of the row that is not below low[k], with both complemented if turned[k] is -1.
template <int Count, class Sample, class Key, class Reduction>
SPNG_DEVICE void next_keys(const RowView<Sample>& row, Index ticks, const Key (&low)[Count],
                           const Key (&turned)[Count], Reduction& reduce, Key (&high)[Count]) {
    using Keys = OrderedKey<Sample>;
    for (int k = 0; k < Count; ++k) {
        high[k] = Keys::highest;
    }
    for (Index tick = Reduction::thread(); tick < ticks; tick += Reduction::threads) {
        const Key key = Keys::of(row[tick]);
        for (int k = 0; k < Count; ++k) {
            const Key candidate = key ^ turned[k];
            high[k] = candidate >= low[k] && candidate < high[k] ? candidate : high[k];
        }
    }
    reduce(high, Smaller{});
}

/// Find the samples at the indices ranks[k] of the sorted row, with all threads that share the row. Every
/// thread gets the result.
/// @param ticks  1 to 2^32 - 1
template <int Count, class Sample, class Reduction>
SPNG_DEVICE void select_samples(const RowView<Sample>& row, Index ticks, const Index (&ranks)[Count],
                                Reduction& reduce, Sample (&selected)[Count]) {
    using Keys = OrderedKey<Sample>;
    using Key = typename Keys::Key;
    using Distance = typename Keys::Distance;
    Key range[2] = {Keys::highest, Keys::highest};
    extreme_keys(row, ticks, reduce, range);
    // A complete bisection ends with low == high, the wanted key. After an early end, the wanted key is the
    // smallest key of the row that is not below `low`, with both complemented if `turned` is -1.
    Key low[Count], high[Count], turned[Count];
    for (int k = 0; k < Count; ++k) {
        low[k] = range[0];
        high[k] = ~range[1];
        turned[k] = 0;
    }
    bool cut_short = false;
    for (bool open = range[0] < ~range[1]; open;) {
        Key middle[Count];
        unsigned found[Count];
        for (int k = 0; k < Count; ++k) {
            const Distance width = static_cast<Distance>(high[k]) - static_cast<Distance>(low[k]);
            middle[k] = static_cast<Key>(static_cast<Distance>(low[k]) + width / 2);
            found[k] = 0;
        }
        for (Index tick = Reduction::thread(); tick < ticks; tick += Reduction::threads) {
            const Key key = Keys::of(row[tick]);
            for (int k = 0; k < Count; ++k) {
                found[k] += key <= middle[k];
            }
        }
        reduce(found, Add{});
        open = false;
        for (int k = 0; k < Count; ++k) {
            if (low[k] < high[k]) {
                if (found[k] == ranks[k] + 1) {
                    // The largest key up to the middle.
                    turned[k] = -1;
                    low[k] = high[k] = ~middle[k];
                    cut_short = true;
                } else if (found[k] == ranks[k]) {
                    // The smallest key after the middle.
                    low[k] = high[k] = middle[k] + 1;
                    cut_short = true;
                } else if (found[k] > ranks[k]) {
                    high[k] = middle[k];
                } else {
                    low[k] = middle[k] + 1;
                }
                open = open || low[k] < high[k];
            }
        }
    }
    if (cut_short) {
        next_keys(row, ticks, low, turned, reduce, high);
    }
    for (int k = 0; k < Count; ++k) {
        selected[k] = Keys::sample(high[k] ^ turned[k]);
    }
}

/// Return a copy of the row in shared memory if it is `staged`, else the row itself. This needs no barrier:
/// each thread copies only the samples that it reads later, at index Reduction::thread() and every
/// Reduction::threads-th after it.
/// @param tick_stride  distance of samples; 1 if the row is not staged
template <class Reduction, class Sample>
SPNG_DEVICE RowView<Sample> staged_row(const Sample* row, Index ticks, Index tick_stride, bool staged,
                                       const SharedArray<Sample>& room) {
    if (!staged) {
        return RowView<Sample>(row);
    }
    for (Index tick = Reduction::thread(); tick < ticks; tick += Reduction::threads) {
        room[tick] = row[tick * tick_stride];
    }
    return RowView<Sample>(room);
}

} // namespace spng::kernels
