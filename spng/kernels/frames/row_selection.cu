// SPDX-License-Identifier: Apache-2.0
// Gather rows of a frame, check and clean them (spng/nodes/channels/row_selection.h). One block per row; each row is
// read once and written once. Rows that must be changed, which are rare, are partly written again.

#include "spng/kernels/block_reduction.cuh"
#include "spng/nodes/channels/row_flags.h"

namespace spng::kernels {

/// Properties of a row, one bit each.
constexpr unsigned beyond_limit = 1, not_finite = 2, varying = 4, at_rail = 8;

struct Either {
    SPNG_DEVICE unsigned operator()(unsigned left, unsigned right) const { return left | right; }
};

/// Type of the largest valid magnitude.
template <class Sample>
struct LimitOf {
    using Type = Sample;
};
template <>
struct LimitOf<short> {
    using Type = int; // 32768 for a check that all samples pass
};

template <class Sample>
struct RowCheck {
    typename LimitOf<Sample>::Type largest;
    int low, high; ///< rails of int16

    SPNG_DEVICE unsigned operator()(Sample sample, Sample first) const {
        unsigned found = sample == first ? 0 : varying;
        if (!(sample <= largest && sample >= -largest)) { // NaN is beyond the limit
            found |= beyond_limit;
        }
        if constexpr (sizeof(Sample) == sizeof(short)) {
            found |= sample <= low || sample >= high ? at_rail : 0;
        } else if (!(sample - sample == 0)) {
            found |= not_finite;
        }
        return found;
    }
};

SPNG_DEVICE short sample_of(Word word, int index, short) {
    return static_cast<short>(word >> (16 * index));
}
SPNG_DEVICE float sample_of(Word word, int index, float) {
    return __uint_as_float(static_cast<unsigned>(word >> (32 * index)));
}
SPNG_DEVICE double sample_of(Word word, int, double) {
    return __longlong_as_double(static_cast<Index>(word));
}

/// Copy a row whose begin and end are at multiples of 8 bytes in both tensors, several loads at a time.
/// @return the properties of this thread's samples
template <class Sample>
SPNG_DEVICE unsigned copy_words(const Sample* in, Index ticks, Sample first, const RowCheck<Sample>& check,
                                Sample* out) {
    constexpr int samples_of_word = sizeof(Word) / sizeof(Sample);
    constexpr int loads = 4;
    const Word* words = reinterpret_cast<const Word*>(in);
    const Index count = ticks / samples_of_word;
    unsigned found = 0;
    for (Index begin = threadIdx.x; begin < count; begin += loads * block_threads) {
        Word loaded[loads];
        for (int i = 0; i < loads; ++i) {
            const Index word = begin + i * Index{block_threads};
            loaded[i] = words[word < count ? word : begin];
        }
        for (int i = 0; i < loads; ++i) {
            const Index word = begin + i * Index{block_threads};
            if (word < count) {
                reinterpret_cast<Word*>(out)[word] = loaded[i];
            }
            for (int k = 0; k < samples_of_word; ++k) {
                found |= check(sample_of(loaded[i], k, Sample{}), first);
            }
        }
    }
    return found;
}

/// The same for any row.
template <class Sample>
SPNG_DEVICE unsigned copy_samples(const Sample* in, Index ticks, Sample first, const RowCheck<Sample>& check,
                                  Sample* out) {
    unsigned found = 0;
    for (Index tick = threadIdx.x; tick < ticks; tick += block_threads) {
        const Sample sample = in[tick];
        out[tick] = sample;
        found |= check(sample, first);
    }
    return found;
}

/// Replace ticks [begin, end) by the straight line between their neighbours, or by the only neighbour.
template <class Sample>
SPNG_DEVICE void bridge(const Sample* in, Index ticks, Index begin, Index end, Sample* out) {
    const bool has_left = begin > 0, has_right = end < ticks;
    const double left = in[has_left ? begin - 1 : end];
    const double right = in[has_right ? end : begin - 1];
    const double steps = static_cast<double>(end - begin + 1);
    for (Index tick = begin + threadIdx.x; tick < end; tick += block_threads) {
        const double value = left + (right - left) * static_cast<double>(tick - begin + 1) / steps;
        if constexpr (sizeof(Sample) == sizeof(short)) {
            out[tick] = static_cast<Sample>(static_cast<int>(rint(value)));
        } else {
            out[tick] = static_cast<Sample>(value);
        }
    }
}

template <class Sample>
SPNG_DEVICE void select_rows(const Sample* frame, Index ticks, const Index* row_of, Index rows,
                             const Index* offsets, const Index* ranges, const RowCheck<Sample>& check,
                             int in_words, Sample* waveforms, bool* good, unsigned char* flags) {
    SharedMemory memory;
    BlockReduction reduce(memory);
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        Sample* out = waveforms + row * ticks;
        unsigned found[] = {0};
        Verdict verdict = Verdict::missing;
        if (row_of[row] >= 0) {
            const Sample* in = frame + row_of[row] * ticks;
            const Sample first = ticks > 0 ? in[0] : Sample{};
            found[0] = in_words ? copy_words(in, ticks, first, check, out)
                                : copy_samples(in, ticks, first, check, out);
            // Its barrier also orders the copy before the writes below, which other threads make.
            reduce(found, Either());
            const Index first_range = offsets[row], end_of_ranges = offsets[row + 1];
            const bool is_dead = first_range < end_of_ranges && ranges[2 * first_range] == 0 &&
                                 ranges[2 * first_range + 1] == ticks;
            verdict = found[0] & not_finite     ? Verdict::not_finite
                      : found[0] & beyond_limit ? Verdict::out_of_range
                      : is_dead                 ? Verdict::dead
                                                : Verdict::good;
            for (Index range = first_range; verdict == Verdict::good && range < end_of_ranges; ++range) {
                bridge(in, ticks, ranges[2 * range], ranges[2 * range + 1], out);
            }
        }
        for (Index tick = threadIdx.x; verdict != Verdict::good && tick < ticks; tick += block_threads) {
            out[tick] = 0;
        }
        if (threadIdx.x == 0) {
            unsigned flag = static_cast<unsigned>(verdict);
            if (verdict == Verdict::good) {
                flag |= ticks > 1 && !(found[0] & varying) ? constant_row : 0;
                flag |= found[0] & at_rail ? saturated_row : 0;
            }
            flags[row] = static_cast<unsigned char>(flag);
            good[row] = verdict == Verdict::good;
        }
    }
}

#define SPNG_SELECT_ROWS(suffix, Sample)                                                                     \
    SPNG_KERNEL select_rows_##suffix(                                                                        \
        const Sample* __restrict__ frame, Index ticks, const Index* __restrict__ row_of, Index rows,         \
        const Index* __restrict__ offsets, const Index* __restrict__ ranges, LimitOf<Sample>::Type largest,  \
        int low, int high, int in_words, Sample* __restrict__ waveforms, bool* __restrict__ good,            \
        unsigned char* __restrict__ flags) {                                                                 \
        select_rows(frame, ticks, row_of, rows, offsets, ranges, RowCheck<Sample>{largest, low, high},       \
                    in_words, waveforms, good, flags);                                                       \
    }

SPNG_SELECT_ROWS(int16, short)
SPNG_SELECT_ROWS(float32, float)
SPNG_SELECT_ROWS(float64, double)

} // namespace spng::kernels
