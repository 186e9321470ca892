// SPDX-License-Identifier: Apache-2.0
// Pack masks into words and unpack them (spng/core/rows/bit_ticks.h).

#include "spng/kernels/bit_words.cuh"

namespace spng::kernels {

/// Pack the rows of a block. flags_of(row) returns a function of the tick, called only for ticks of the row.
template <class FlagsOf>
SPNG_DEVICE void pack_words(Index rows, Index ticks, Word* packed, FlagsOf flags_of) {
    const Index words = words_for(ticks);
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        pack_row(ticks, flags_of(row), [=](Index word, Word flags) { packed[row * words + word] = flags; });
    }
}

SPNG_KERNEL pack_ticks(const bool* __restrict__ mask, Index rows, Index ticks, Word* __restrict__ packed) {
    pack_words(rows, ticks, packed, [=](Index row) {
        const bool* flags = mask + row * ticks;
        return [=](Index tick) { return flags[tick]; };
    });
}

SPNG_KERNEL unpack_ticks(const Word* __restrict__ packed, Index rows, Index ticks, bool* __restrict__ mask) {
    const Index words = words_for(ticks);
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        for (Index tick = threadIdx.x; tick < ticks; tick += block_threads) {
            mask[row * ticks + tick] =
                (packed[row * words + tick / word_bits] >> (tick % word_bits) & 1) != 0;
        }
    }
}

/// Pack x > pedestal + factor rms + nominal for several levels of several waveforms, with the CPU's order of
/// operations. A block packs all levels of one row of one waveform, so that each sample is read once. Rows that
/// are not good give 0.
/// @param rms, pedestals  0: none
/// @param waveform_of_level  of the `count` levels
template <class Real>
SPNG_DEVICE void
pack_levels(const List<const Real*, max_waveforms>& waveforms, const List<Index, max_waveforms>& row_strides,
            const List<const Real*, max_waveforms>& rms, const List<const Real*, max_waveforms>& pedestals,
            const bool* good, int waveform_count, Index rows, Index ticks,
            const List<int, max_levels>& waveform_of_level, const List<Real, max_levels>& factors,
            const List<Real, max_levels>& nominals, int count, Word* packed) {
    const Index words = words_for(ticks);
    for (Index item = blockIdx.x; item < rows * waveform_count; item += gridDim.x) {
        const int waveform = static_cast<int>(item / rows);
        const Index row = item % rows;
        const bool wanted = good == nullptr || good[row];
        const Real unit = rms.at[waveform] == nullptr ? Real{0} : rms.at[waveform][row];
        const Real zero = pedestals.at[waveform] == nullptr ? Real{0} : pedestals.at[waveform][row];
        const bool is_raised = pedestals.at[waveform] != nullptr;
        const Real* samples = waveforms.at[waveform] + row * row_strides.at[waveform];
        for (Index word = warp_index(); word < words; word += block_warps) {
            const Index first = word * word_bits + lane_index();
            const Index second = first + warp_threads;
            const bool has_first = wanted && first < ticks;
            const bool has_second = wanted && second < ticks;
            const Real low = has_first ? samples[first] : Real{0};
            const Real high = has_second ? samples[second] : Real{0};
            for (int level = 0; level < count; ++level) {
                if (waveform_of_level.at[level] == waveform) {
                    Real threshold = unit * factors.at[level];
                    if (is_raised) {
                        threshold = threshold + zero;
                    }
                    threshold = threshold + nominals.at[level];
                    const Word flags =
                        word_of_flags(has_first && low > threshold, has_second && high > threshold);
                    if (lane_index() == 0) {
                        packed[(level * rows + row) * words + word] = flags;
                    }
                }
            }
        }
    }
}

#define SPNG_PACK_LEVELS(suffix, Real)                                                                       \
    SPNG_KERNEL pack_levels_##suffix(                                                                        \
        SPNG_LIST(const Real*, max_waveforms) waveforms, SPNG_LIST(Index, max_waveforms) row_strides,        \
        SPNG_LIST(const Real*, max_waveforms) rms, SPNG_LIST(const Real*, max_waveforms) pedestals,          \
        const bool* good, int waveform_count, Index rows, Index ticks,                                       \
        SPNG_LIST(int, max_levels) waveform_of_level, SPNG_LIST(Real, max_levels) factors,                   \
        SPNG_LIST(Real, max_levels) nominals, int count, Word* packed) {                                     \
        pack_levels(waveforms, row_strides, rms, pedestals, good, waveform_count, rows, ticks,               \
                    waveform_of_level, factors, nominals, count, packed);                                    \
    }

SPNG_PACK_LEVELS(float32, float)
SPNG_PACK_LEVELS(float64, double)

} // namespace spng::kernels
