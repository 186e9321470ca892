// Coincidence of planes on packed ticks (spng/nodes/coincidence/coincidence.h).

#include "spng/kernels/bit_words.cuh"

namespace spng::kernels {

/// Neighbouring words of a row, loaded by one instruction.
template <unsigned Count>
struct alignas(Count * sizeof(Word)) Words {
    Word word[Count];
};

/// One block for each target: its warps share the cells, the lanes of a warp are words. What the warps found
/// is combined in shared memory, so that no atomic operation is needed.
/// @tparam Count  words of a lane: 1, or 2 where rows have an even number of words; half a warp then has a
/// cell
template <unsigned Count>
SPNG_DEVICE void coincidence_of_targets(const Word* packed, unsigned words, const int* offsets,
                                        const Word* pairs, Index targets, Word* crossing) {
    constexpr unsigned lanes_of_cell = warp_threads / Count;
    SharedMemory memory;
    const SharedArray<Word> found = memory.take<Word>(block_threads);
    for (Index target = blockIdx.x; target < targets; target += gridDim.x) {
        const unsigned first = offsets[target];
        const unsigned past = offsets[target + 1];
        for (unsigned begin = 0; begin < words; begin += warp_threads) {
            const unsigned word = begin + lane_number() % lanes_of_cell * Count;
            Words<Count> mine = {};
            if (word < words) {
                const unsigned own = first + threadIdx.x / lanes_of_cell;
                for (unsigned cell = own; cell < past; cell += block_threads / lanes_of_cell) {
                    const Word pair = pairs[cell];
                    const unsigned left = static_cast<unsigned>(pair) * words + word;
                    const unsigned right = static_cast<unsigned>(pair >> 32) * words + word;
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
                if (lane_number() < lanes_of_cell) {
                    found[warp_number() * warp_threads + lane_number() * Count + k] = mine.word[k];
                }
            }
            __syncthreads();
            if (warp_number() == 0 && begin + lane_number() < words) {
                Word all = 0;
                for (unsigned warp = 0; warp < block_warps; ++warp) {
                    all |= found[warp * warp_threads + lane_number()];
                }
                crossing[target * words + begin + lane_number()] = all;
            }
            __syncthreads();
        }
    }
}

/// @param packed  rows times words is below 2^32; at a multiple of 16 bytes where `words` is even
/// @param pairs   two rows for each cell, each of 32 bits, the first one's lowest
SPNG_KERNEL coincidence(const Word* __restrict__ packed, Index words, const int* __restrict__ offsets,
                        const Word* __restrict__ pairs, Index targets, Word* __restrict__ crossing) {
    const auto number = static_cast<unsigned>(words);
    if (number % 2 == 0) {
        coincidence_of_targets<2>(packed, number, offsets, pairs, targets, crossing);
    } else {
        coincidence_of_targets<1>(packed, number, offsets, pairs, targets, crossing);
    }
}

SPNG_KERNEL or_neighbours(const Word* __restrict__ packed, Index rows, Index words,
                          const int* __restrict__ neighbours, Index most, Word* __restrict__ widened) {
    for (Index row = first_row_of_warp(); row < rows; row += rows_of_grid()) {
        for (Index word = lane_number(); word < words; word += warp_threads) {
            Word mine = packed[row * words + word];
            for (Index slot = 0; slot < most; ++slot) {
                const Index other = neighbours[row * most + slot];
                if (other >= 0) {
                    mine |= packed[other * words + word];
                }
            }
            widened[row * words + word] = mine;
        }
    }
}

/// Bit 0 of a product's number asks for the mask, bit 1 for the crossing, each as it is or complemented.
/// @param products  two bits for each, the first one's lowest
SPNG_KERNEL multi_plane(const Word* __restrict__ mask, const Word* __restrict__ crossing, Index rows,
                        Index ticks, int products, int number, Word* __restrict__ result) {
    const Index words = words_for(ticks);
    for (Index row = first_row_of_warp(); row < rows; row += rows_of_grid()) {
        for (Index word = lane_number(); word < words; word += warp_threads) {
            const Index i = row * words + word;
            const Word inside = bits_of_row(word, ticks);
            for (int k = 0; k < number; ++k) {
                const int product = products >> (2 * k) & 3;
                const Word left = product & 1 ? mask[i] : ~mask[i];
                const Word right = product & 2 ? crossing[i] : ~crossing[i];
                result[k * rows * words + i] = left & right & inside;
            }
        }
    }
}

} // namespace spng::kernels
