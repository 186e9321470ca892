// SPDX-License-Identifier: Apache-2.0
// Pack masks into words and unpack them (spng/nodes/coincidence/bit_ticks.h).

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

/// Pack x > pedestal + factor rms + nominal, with the CPU's order of operations. Rows that are not good give
/// 0.
template <class Real>
SPNG_DEVICE void pack_above(const Real* waveforms, Index rows, Index row_stride, Index ticks, const Real* rms,
                            Real factor, const Real* pedestal, Real nominal, const bool* good, Word* packed) {
    pack_words(rows, ticks, packed, [=](Index row) {
        const bool wanted = good == nullptr || good[row];
        Real threshold = rms[row] * factor;
        if (pedestal != nullptr) {
            threshold = threshold + pedestal[row];
        }
        threshold = threshold + nominal;
        const Real* samples = waveforms + row * row_stride;
        return [=](Index tick) { return wanted && samples[tick] > threshold; };
    });
}

#define SPNG_PACK_ABOVE(suffix, Real)                                                                        \
    SPNG_KERNEL pack_above_##suffix(const Real* __restrict__ waveforms, Index rows, Index row_stride,        \
                                    Index ticks, const Real* __restrict__ rms, Real factor,                  \
                                    const Real* __restrict__ pedestal, Real nominal,                         \
                                    const bool* __restrict__ good, Word* __restrict__ packed) {              \
        pack_above(waveforms, rows, row_stride, ticks, rms, factor, pedestal, nominal, good, packed);        \
    }

SPNG_PACK_ABOVE(float32, float)
SPNG_PACK_ABOVE(float64, double)

} // namespace spng::kernels
