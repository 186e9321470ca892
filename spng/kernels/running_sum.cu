// SPDX-License-Identifier: Apache-2.0
// Sums of adjacent samples in units of the noise (spng/nodes/roi/long_pulses.h). A block computes a tile of
// one row. Its samples, scaled and clipped, are in shared memory with half a sum on both sides. Each thread
// slides over seven adjacent results, so that the threads of a warp read from different banks. The results
// then overwrite the samples, and adjacent threads store them.

#include "spng/kernels/device.cuh"

namespace spng::kernels {

/// @param ticks   `ticks` + `samples` + a tile must be below 2^31: indices in a row have 32 bits
/// @param staged  true if the tile and its surroundings fit into shared memory
template <class Real>
SPNG_DEVICE void clipped_running_sum(const Real* waveform, Index rows, int ticks, const Real* pedestal,
                                     const Real* rms, Real clip, int samples, int staged, Real* result) {
    const int half = samples / 2;
    const int around = samples - 1;
    const Index tiles = (ticks + tile_ticks - 1) / tile_ticks;
    SharedMemory memory;
    const SharedArray<Real> staging = memory.take<Real>(tile_ticks + (staged ? around : 0));
    for (Index tile = blockIdx.x; tile < rows * tiles; tile += gridDim.x) {
        const Index row = tile / tiles;
        const int first = static_cast<int>(tile % tiles) * tile_ticks;
        const Real* in = waveform + row * ticks;
        const Real level = pedestal[row];
        const Real scale = rms[row] > 0 ? 1 / rms[row] : Real{0};
        const auto sample = [=](int tick) {
            // Loads without a branch are issued faster.
            const int nearest = tick < 0 ? 0 : tick < ticks ? tick : ticks - 1;
            const Real value = (in[nearest] - level) * scale;
            const Real raised = value < -clip ? -clip : value;
            const Real clipped = raised > clip ? clip : raised;
            return nearest == tick ? clipped : Real{0};
        };
        if (staged) {
            for (int i = threadIdx.x; i < tile_ticks + around; i += block_threads) {
                staging[i] = sample(first + i - half);
            }
        }
        __syncthreads();
        const auto at = [&](int i) {
            return staged ? static_cast<Real>(staging[i]) : sample(first + i - half);
        };
        const int begin = threadIdx.x * results_of_thread;
        const bool in_row = first + begin < ticks;
        Real sums[results_of_thread] = {};
        if (in_row) {
            Real sum = 0;
            for (int i = 0; i < around; ++i) {
                sum += at(begin + i);
            }
            for (int i = 0; i < results_of_thread; ++i) {
                sum += at(begin + i + around);
                sums[i] = sum;
                sum -= at(begin + i);
            }
        }
        __syncthreads();
        if (in_row) {
            for (int i = 0; i < results_of_thread; ++i) {
                staging[begin + i] = sums[i];
            }
        }
        __syncthreads();
        Real* out = result + row * ticks + first;
        for (int i = threadIdx.x; i < tile_ticks && first + i < ticks; i += block_threads) {
            out[i] = staging[i];
        }
        __syncthreads();
    }
}

#define SPNG_CLIPPED_RUNNING_SUM(suffix, Real)                                                               \
    SPNG_KERNEL clipped_running_sum_##suffix(                                                                \
        const Real* __restrict__ waveform, Index rows, Index ticks, const Real* __restrict__ pedestal,       \
        const Real* __restrict__ rms, Real clip, Index samples, int staged, Real* __restrict__ result) {     \
        clipped_running_sum(waveform, rows, static_cast<int>(ticks), pedestal, rms, clip,                    \
                            static_cast<int>(samples), staged, result);                                      \
    }

SPNG_CLIPPED_RUNNING_SUM(float32, float)
SPNG_CLIPPED_RUNNING_SUM(float64, double)

} // namespace spng::kernels
