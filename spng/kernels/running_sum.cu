// Sums of neighbouring samples in units of the noise (spng/roi/long_pulses.h). A block makes a tile of one
// row: its samples, scaled and clipped, lie in shared memory with half a sum on both sides, and each thread
// slides over a few neighbouring results. Seven of them, so that the threads of a warp read from different
// banks.

#include "spng/kernels/device.cuh"

namespace spng::kernels {

constexpr Index results_of_thread = 7;
constexpr Index tile_ticks = results_of_thread * block_threads;

/// @param staged  whether the tile and its surroundings fit into shared memory
template <class Real>
SPNG_DEVICE void clipped_running_sum(const Real* waveform, Index rows, Index ticks, const Real* pedestal,
                                     const Real* rms, Real clip, Index samples, int staged, Real* result) {
    const Index half = samples / 2;
    const Index tiles = (ticks + tile_ticks - 1) / tile_ticks;
    SharedMemory memory;
    const SharedArray<Real> scaled = memory.take<Real>(staged ? tile_ticks + samples - 1 : 0);
    for (Index tile = blockIdx.x; tile < rows * tiles; tile += gridDim.x) {
        const Index row = tile / tiles;
        const Index first = tile % tiles * tile_ticks;
        const Real* in = waveform + row * ticks;
        const Real level = pedestal[row];
        const Real scale = rms[row] > 0 ? 1 / rms[row] : Real{0};
        const auto sample = [=](Index tick) {
            if (tick < 0 || tick >= ticks) {
                return Real{0};
            }
            const Real value = (in[tick] - level) * scale;
            return value < -clip ? -clip : value > clip ? clip : value;
        };
        if (staged) {
            for (Index i = threadIdx.x; i < tile_ticks + samples - 1; i += block_threads) {
                scaled[i] = sample(first + i - half);
            }
        }
        __syncthreads();
        const auto at = [&](Index i) {
            return staged ? static_cast<Real>(scaled[i]) : sample(first + i - half);
        };
        const Index begin = threadIdx.x * results_of_thread;
        Real sum = 0;
        for (Index i = 0; i < samples - 1 && first + begin < ticks; ++i) {
            sum += at(begin + i);
        }
        for (Index i = begin; i < begin + results_of_thread && first + i < ticks; ++i) {
            sum += at(i + samples - 1);
            result[row * ticks + first + i] = sum;
            sum -= at(i);
        }
        __syncthreads();
    }
}

#define SPNG_CLIPPED_RUNNING_SUM(suffix, Real)                                                               \
    SPNG_KERNEL clipped_running_sum_##suffix(const Real* waveform, Index rows, Index ticks,                  \
                                             const Real* pedestal, const Real* rms, Real clip,               \
                                             Index samples, int staged, Real* result) {                      \
        clipped_running_sum(waveform, rows, ticks, pedestal, rms, clip, samples, staged, result);            \
    }

SPNG_CLIPPED_RUNNING_SUM(float32, float)
SPNG_CLIPPED_RUNNING_SUM(float64, double)

} // namespace spng::kernels
