// SPDX-License-Identifier: Apache-2.0
// Coincidence of planes on packed ticks (spng/nodes/coincidence/coincidence.h).

#include "spng/kernels/bit_words.cuh"

namespace spng::kernels {

/// Adjacent words of a row, loaded by one instruction.
template <unsigned Count>
struct alignas(Count * sizeof(Word)) Words {
    Word word[Count];
};

/// Find the crossings of one target per block. The warps share the cells; the lanes of a warp are words. The
/// results of the warps are combined in shared memory without atomic operations.
/// @tparam Count  words per lane: 1, or 2 for rows with an even count of words; then half a warp processes a
/// cell
/// @param narrow  the rows of a cell have 16 bits each
template <unsigned Count>
SPNG_DEVICE void coincidence_of_targets(const Word* packed, unsigned words, const int* offsets,
                                        const Word* pairs, bool narrow, Index targets, Word* crossing) {
    constexpr unsigned lanes_of_cell = warp_threads / Count;
    SharedMemory memory;
    const SharedArray<Word> found = memory.take<Word>(block_threads);
    for (Index target = blockIdx.x; target < targets; target += gridDim.x) {
        const unsigned first = offsets[target];
        const unsigned past = offsets[target + 1];
        for (unsigned begin = 0; begin < words; begin += warp_threads) {
            const unsigned word = begin + lane_index() % lanes_of_cell * Count;
            Words<Count> mine = {};
            if (word < words) {
                const unsigned own = first + threadIdx.x / lanes_of_cell;
                for (unsigned cell = own; cell < past; cell += block_threads / lanes_of_cell) {
                    const Word pair = narrow ? reinterpret_cast<const unsigned*>(pairs)[cell] : pairs[cell];
                    const auto low = static_cast<unsigned>(pair);
                    const unsigned left = (narrow ? low & 0xffff : low) * words + word;
                    const unsigned right = static_cast<unsigned>(pair >> (narrow ? 16 : 32)) * words + word;
                    const auto one = *reinterpret_cast<const Words<Count>*>(packed + left);
                    const auto other = *reinterpret_cast<const Words<Count>*>(packed + right);
                    for (unsigned k = 0; k < Count; ++k) {
                        mine.word[k] |= one.word[k] & other.word[k];
                    }
                }
            }
            for (unsigned k = 0; k < Count; ++k) {
                if constexpr (Count == 2) {
                    mine.word[k] |= __shfl_xor_sync(all_lanes, mine.word[k], lanes_of_cell);
                }
                if (lane_index() < lanes_of_cell) {
                    found[warp_index() * warp_threads + lane_index() * Count + k] = mine.word[k];
                }
            }
            __syncthreads();
            if (warp_index() == 0 && begin + lane_index() < words) {
                Word all = 0;
                for (unsigned warp = 0; warp < block_warps; ++warp) {
                    all |= found[warp * warp_threads + lane_index()];
                }
                crossing[target * words + begin + lane_index()] = all;
            }
            __syncthreads();
        }
    }
}

/// @param packed  rows times words is below 2^32; aligned to 16 bytes if `words` is even
/// @param pairs   two rows per cell, 32 bits each or, if narrow, 16 bits, the first one in the low bits
SPNG_KERNEL coincidence(const Word* __restrict__ packed, Index words, const int* __restrict__ offsets,
                        const Word* __restrict__ pairs, int narrow, Index targets,
                        Word* __restrict__ crossing) {
    const auto row_words = static_cast<unsigned>(words);
    if (row_words % 2 == 0) {
        coincidence_of_targets<2>(packed, row_words, offsets, pairs, narrow != 0, targets, crossing);
    } else {
        coincidence_of_targets<1>(packed, row_words, offsets, pairs, narrow != 0, targets, crossing);
    }
}

/// Compute products of mask and crossing. Bit 0 of a product's code selects the mask (1) or its complement
/// (0), bit 1 the crossing or its complement.
/// @param neighbours  (row, slot): rows whose crossings are added; negative: none
/// @param products    `count` codes of two bits, the first one in the low bits
SPNG_KERNEL multi_plane(const Word* __restrict__ mask, const Word* __restrict__ crossing,
                        const int* __restrict__ neighbours, Index slots, Index rows, Index ticks,
                        int products, int count, Word* __restrict__ result) {
    const Index words = words_for(ticks);
    for (Index row = first_row_of_warp(); row < rows; row += rows_of_grid()) {
        for (Index word = lane_index(); word < words; word += warp_threads) {
            const Index i = row * words + word;
            const Word inside = bits_of_row(word, ticks);
            const Word own = mask[i];
            Word others = crossing[i];
            for (Index slot = 0; slot < slots; ++slot) {
                const Index other = neighbours[row * slots + slot];
                if (other >= 0) {
                    others |= crossing[other * words + word];
                }
            }
            for (int k = 0; k < count; ++k) {
                const int product = products >> (2 * k) & 3;
                const Word left = product & 1 ? own : ~own;
                const Word right = product & 2 ? others : ~others;
                result[k * rows * words + i] = left & right & inside;
            }
        }
    }
}

} // namespace spng::kernels
