// SPDX-License-Identifier: Apache-2.0
// Subtract the median from int16 or real waveforms and pad them with zeros (spng/nodes/decon/baseline.h). One
// block per row; each row is read from memory once.

#include "spng/kernels/selection.cuh"

namespace spng::kernels {

/// Type of the difference: int16 is exact in any real type; float64 must not be rounded before the
/// subtraction.
template <class Sample, class Result>
struct Difference {
    using Type = Result;
};
template <>
struct Difference<double, float> {
    using Type = double;
};

template <class Sample, class Result>
SPNG_DEVICE void subtract_baseline(const Sample* waveforms, Index rows, Index row_stride, Index ticks,
                                   Index tick_stride, Index padded_ticks, const bool* good, int staged,
                                   Result* result) {
    using Wide = typename Difference<Sample, Result>::Type;
    SharedMemory memory;
    BlockReduction reduce(memory);
    const SharedArray<Sample> room = memory.take<Sample>(staged ? ticks : 0);
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        Result* out = result + row * padded_ticks;
        const bool wanted = good == nullptr || good[row];
        if (wanted) {
            const RowView<Sample> samples = staged_row<BlockReduction>(waveforms + row * row_stride, ticks,
                                                                       tick_stride, staged != 0, room);
            const Index ranks[] = {(ticks - 1) / 2};
            Sample medians[1];
            select_samples(samples, ticks, ranks, reduce, medians);
            const Wide median = static_cast<Wide>(medians[0]);
            for (Index tick = threadIdx.x; tick < ticks; tick += block_threads) {
                out[tick] = static_cast<Result>(static_cast<Wide>(samples[tick]) - median);
            }
        }
        for (Index tick = (wanted ? ticks : 0) + threadIdx.x; tick < padded_ticks; tick += block_threads) {
            out[tick] = 0;
        }
    }
}

#define SPNG_SUBTRACT_BASELINE(name, Sample, Result)                                                         \
    SPNG_KERNEL name(const Sample* __restrict__ waveforms, Index rows, Index row_stride, Index ticks,        \
                     Index tick_stride, Index padded_ticks, const bool* __restrict__ good, int staged,       \
                     Result* __restrict__ result) {                                                          \
        subtract_baseline(waveforms, rows, row_stride, ticks, tick_stride, padded_ticks, good, staged,       \
                          result);                                                                           \
    }

SPNG_SUBTRACT_BASELINE(subtract_baseline_int16_float32, short, float)
SPNG_SUBTRACT_BASELINE(subtract_baseline_int16_float64, short, double)
SPNG_SUBTRACT_BASELINE(subtract_baseline_float32_float32, float, float)
SPNG_SUBTRACT_BASELINE(subtract_baseline_float32_float64, float, double)
SPNG_SUBTRACT_BASELINE(subtract_baseline_float64_float32, double, float)
SPNG_SUBTRACT_BASELINE(subtract_baseline_float64_float64, double, double)

} // namespace spng::kernels
