// SPDX-License-Identifier: Apache-2.0
// Rows of a frame from up to four tensors (spng/nodes/frame/frame_rows.h).

#include "spng/kernels/bit_words.cuh"
#include "spng/kernels/block_reduction.cuh"
#include "spng/nodes/frame/row_tiles.h"

namespace spng::kernels {

/// The tensors that hold the rows of a frame. Row r of the frame is row origins[2 r + 1] of tensor origins[2 r], or of
/// none if that is negative.
template <class T>
struct RowSources {
    const T* first;
    const T* second;
    const T* third;
    const T* fourth;
    const int* origins;

    /// @param size  of a row
    SPNG_DEVICE const T* row(Index row, Index size) const {
        const int source = origins[2 * row];
        const T* rows = source == 0 ? first : source == 1 ? second : source == 2 ? third : fourth;
        return source < 0 ? nullptr : rows + origins[2 * row + 1] * size;
    }
};

/// Count the ticks of a word's slices.
/// @param ticks  of the row; slices beyond them count nothing, the last one the ticks that the row has
SPNG_DEVICE unsigned ticks_inside(Word flags, Index word, Index factor, Index ticks) {
    const Index slices = (ticks + factor - 1) / factor - word * word_bits; // from this word on
    if (flags == 0 || slices <= 0) {
        return 0;
    }
    const bool cuts_last = slices <= word_bits && (flags >> (slices - 1) & 1) != 0;
    const Index excess = cuts_last ? (slices + word * word_bits) * factor - ticks : 0;
    return static_cast<unsigned>(__popcll(flags & low_bits(slices)) * factor - excess);
}

/// A block takes a tile of rows, each of its warps a row: copies the words and counts the ticks inside.
SPNG_KERNEL gather_words(const Word* __restrict__ first, const Word* __restrict__ second,
                         const Word* __restrict__ third, const Word* __restrict__ fourth,
                         const int* __restrict__ origins, Index rows, Index words, Index factor, Index ticks,
                         Word* __restrict__ gathered, int* __restrict__ extents, Index* __restrict__ tiles) {
    SharedMemory memory;
    const SharedArray<unsigned> counts = memory.take<unsigned>(rows_of_tile);
    const RowSources<Word> sources{first, second, third, fourth, origins};
    for (Index tile = blockIdx.x; tile * rows_of_tile < rows; tile += gridDim.x) {
        for (unsigned k = warp_index(); k < rows_of_tile; k += block_warps) {
            const Index row = tile * rows_of_tile + k;
            unsigned count = 0;
            if (row < rows) {
                const Word* from = sources.row(row, words);
                for (Index word = lane_index(); word < words; word += warp_threads) {
                    const Word flags = from == nullptr ? 0 : from[word];
                    gathered[row * words + word] = flags;
                    count += ticks_inside(flags, word, factor, ticks);
                }
            }
            count = over_warp(count, Add{});
            if (lane_index() == 0) {
                counts[k] = count;
            }
        }
        __syncthreads();
        if (threadIdx.x <= rows_of_tile) {
            const Index row = tile * rows_of_tile + threadIdx.x;
            unsigned before = 0;
            for (unsigned k = 0; k < threadIdx.x; ++k) {
                before += counts[k];
            }
            if (threadIdx.x == rows_of_tile) {
                tiles[tile] = before;
            } else if (row < rows) {
                extents[2 * row] = static_cast<int>(before);
                extents[2 * row + 1] = static_cast<int>(counts[threadIdx.x]);
            }
        }
        __syncthreads();
    }
}

/// A block takes a row. Its warps add the samples of all earlier tiles.
template <class Real>
SPNG_DEVICE void gather_rows(const RowSources<Real>& sources, Index rows, Index ticks, const int* extents,
                             const Index* tiles, Index first_tile, float* values) {
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const int count = extents[2 * row + 1];
        if (count == 0) {
            continue;
        }
        Index before = 0;
        for (Index tile = lane_index(); tile < first_tile + row / rows_of_tile; tile += warp_threads) {
            before += tiles[tile];
        }
        before = over_warp(before, [](Index left, Index right) { return left + right; });
        const Real* from = sources.row(row, ticks);
        float* to = values + before + extents[2 * row];
        for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) {
            to[i] = static_cast<float>(from[i]);
        }
    }
}

#define SPNG_GATHER_ROWS(suffix, Real)                                                                       \
    SPNG_KERNEL gather_rows_##suffix(const Real* __restrict__ first, const Real* __restrict__ second,        \
                                     const Real* __restrict__ third, const Real* __restrict__ fourth,        \
                                     const int* __restrict__ origins, Index rows, Index ticks,               \
                                     const int* __restrict__ extents, const Index* __restrict__ tiles,       \
                                     Index first_tile, float* __restrict__ values) {                         \
        gather_rows(RowSources<Real>{first, second, third, fourth, origins}, rows, ticks, extents, tiles,    \
                    first_tile, values);                                                                     \
    }

SPNG_GATHER_ROWS(float32, float)
SPNG_GATHER_ROWS(float64, double)

} // namespace spng::kernels
