// SPDX-License-Identifier: Apache-2.0
// Input of an ROI-finding network (spng/nodes/dnn/roi_features.h).

#include "spng/kernels/bit_words.cuh"

namespace spng::kernels {

/// A block makes one row of a feature: a scaled row of a waveform, or an unpacked row of a mask.
/// @param waveforms  of `count` features; 0 for a mask
/// @param masks      packed; 0 for a waveform
/// @param divisors   of the features, (view, channel); 0: 1
/// @param stacked    (view, feature, channel, tick)
template <class Real>
SPNG_DEVICE void stack_features(const List<const Real*, max_features>& waveforms,
                                const List<Index, max_features>& row_strides,
                                const List<const Word*, max_features>& masks, int count, Index views,
                                Index channels, Index ticks, const List<const Real*, max_features>& divisors,
                                float scale, float offset, float* stacked) {
    const Index words = words_for(ticks);
    for (Index item = blockIdx.x; item < views * count * channels; item += gridDim.x) {
        const int feature = static_cast<int>(item / channels % count);
        const Index row = item / (channels * count) * channels + item % channels;
        float* out = stacked + item * ticks;
        if (masks.at[feature] != nullptr) {
            const Word* mask = masks.at[feature] + row * words;
            for (Index tick = threadIdx.x; tick < ticks; tick += block_threads) {
                out[tick] = (mask[tick / word_bits] >> (tick % word_bits) & 1) != 0 ? 1.0f : 0.0f;
            }
        } else {
            const Real* samples = waveforms.at[feature] + row * row_strides.at[feature];
            const Real* divisor = divisors.at[feature];
            const Real unit = divisor == nullptr ? Real{1} : divisor[row];
            for (Index tick = threadIdx.x; tick < ticks; tick += block_threads) {
                const float scaled = static_cast<float>(samples[tick] / unit) * scale;
                out[tick] = offset == 0 ? scaled : scaled + offset;
            }
        }
    }
}

#define SPNG_STACK_FEATURES(suffix, Real)                                                                    \
    SPNG_KERNEL stack_features_##suffix(                                                                     \
        SPNG_LIST(const Real*, max_features) waveforms, SPNG_LIST(Index, max_features) row_strides,          \
        SPNG_LIST(const Word*, max_features) masks, int count, Index views, Index channels, Index ticks,     \
        SPNG_LIST(const Real*, max_features) divisors, float scale, float offset, float* stacked) {          \
        stack_features(waveforms, row_strides, masks, count, views, channels, ticks, divisors, scale,        \
                       offset, stacked);                                                                     \
    }

SPNG_STACK_FEATURES(float32, float)
SPNG_STACK_FEATURES(float64, double)

} // namespace spng::kernels
