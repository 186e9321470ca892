// SPDX-License-Identifier: Apache-2.0
// Sums of adjacent samples in units of the noise, and of adjacent channels (spng/nodes/roi/long_pulses.h).
//
// For a running sum, a block computes a tile of one row. Its samples, scaled and clipped, are in shared memory with
// half the longest sum on both sides. Each thread slides over seven adjacent results, so that the threads of a
// warp read from different banks. The results go through shared memory too, so that adjacent threads store
// adjacent ones.

#include "spng/kernels/device.cuh"

namespace spng::kernels {

/// @param ticks    `ticks` + `half` + a tile must be below 2^31: indices in a row have 32 bits
/// @param lengths  of the `count` sums
/// @param half     of the longest sum
/// @param staged   true if the tile and its surroundings fit into shared memory
/// @param result   (length, row, tick)
template <class Real>
SPNG_DEVICE void clipped_running_sum(const Real* waveform, Index rows, int ticks, const Real* pedestal,
                                     const Real* rms, Real clip, const List<int, max_lengths>& lengths,
                                     int count, int half, int staged, Real* result) {
    const int around = 2 * half;
    const Index tiles = (ticks + tile_ticks - 1) / tile_ticks;
    SharedMemory memory;
    const SharedArray<Real> staging = memory.take<Real>(staged ? tile_ticks + around : 0);
    const SharedArray<Real> sums = memory.take<Real>(tile_ticks);
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
        Real* out = result + row * ticks + first;
        for (int which = 0; which < count; ++which, out += rows * ticks) {
            const int length = lengths.at[which];
            const int left = begin + half - length / 2;
            if (in_row) {
                Real sum = 0;
                for (int i = 0; i < length - 1; ++i) {
                    sum += at(left + i);
                }
                for (int i = 0; i < results_of_thread; ++i) {
                    sum += at(left + i + length - 1);
                    sums[begin + i] = sum;
                    sum -= at(left + i);
                }
            }
            __syncthreads();
            for (int i = threadIdx.x; i < tile_ticks && first + i < ticks; i += block_threads) {
                out[i] = sums[i];
            }
            __syncthreads();
        }
    }
}

/// A block sums one row. The order of the summands is that of the CPU.
template <class Real>
SPNG_DEVICE void sum_of_neighbours(const Real* waveform, Index rows, Index channels, Index ticks, int cyclic,
                                   Real* result) {
    const Index last = channels - 1;
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const Index channel = row % channels;
        const bool has_before = channel > 0, has_after = channel < last;
        const bool is_inner = has_before && has_after;
        const bool has_third = is_inner || (cyclic != 0 && last > 0);
        const Real* own = waveform + row * ticks;
        const Real* second = has_before ? own - ticks : own + ticks;
        const Real* third = is_inner ? own + ticks : has_before ? own - last * ticks : own + last * ticks;
        for (Index tick = threadIdx.x; tick < ticks; tick += block_threads) {
            Real sum = own[tick];
            if (last > 0) {
                sum = sum + second[tick];
            }
            if (has_third) {
                sum = sum + third[tick];
            }
            result[row * ticks + tick] = sum;
        }
    }
}

#define SPNG_SUM_OF_NEIGHBOURS(suffix, Real)                                                                 \
    SPNG_KERNEL sum_of_neighbours_##suffix(const Real* __restrict__ waveform, Index rows, Index channels,    \
                                           Index ticks, int cyclic, Real* __restrict__ result) {             \
        sum_of_neighbours(waveform, rows, channels, ticks, cyclic, result);                                  \
    }

SPNG_SUM_OF_NEIGHBOURS(float32, float)
SPNG_SUM_OF_NEIGHBOURS(float64, double)

#define SPNG_CLIPPED_RUNNING_SUM(suffix, Real)                                                               \
    SPNG_KERNEL clipped_running_sum_##suffix(                                                                \
        const Real* __restrict__ waveform, Index rows, Index ticks, const Real* __restrict__ pedestal,       \
        const Real* __restrict__ rms, Real clip, SPNG_LIST(int, max_lengths) lengths, int count, int half,   \
        int staged, Real* __restrict__ result) {                                                             \
        clipped_running_sum(waveform, rows, static_cast<int>(ticks), pedestal, rms, clip, lengths, count,    \
                            half, staged, result);                                                           \
    }

SPNG_CLIPPED_RUNNING_SUM(float32, float)
SPNG_CLIPPED_RUNNING_SUM(float64, double)

} // namespace spng::kernels
