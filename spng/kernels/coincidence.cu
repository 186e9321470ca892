// Coincidence of planes on packed ticks (spng/coincidence/coincidence.h).

#include "spng/kernels/bit_words.cuh"

namespace spng::kernels {

/// One block for each target: its warps share the cells, the lanes of a warp are words. What the warps found
/// is combined in shared memory, so that no atomic operation is needed.
SPNG_KERNEL coincidence(const Word* packed, Index words, const int* offsets, const int* pairs, Index targets,
                        Word* crossing) {
    SharedMemory memory;
    const SharedArray<Word> found = memory.take<Word>(block_threads);
    for (Index target = blockIdx.x; target < targets; target += gridDim.x) {
        const int first = offsets[target];
        const int past = offsets[target + 1];
        for (Index begin = 0; begin < words; begin += warp_threads) {
            const Index word = begin + lane_number();
            Word mine = 0;
            if (word < words) {
                for (Index cell = first + static_cast<Index>(warp_number()); cell < past;
                     cell += block_warps) {
                    const Index left = pairs[2 * cell];
                    const Index right = pairs[2 * cell + 1];
                    mine |= packed[left * words + word] & packed[right * words + word];
                }
            }
            found[threadIdx.x] = mine;
            __syncthreads();
            if (warp_number() == 0 && word < words) {
                for (unsigned warp = 1; warp < block_warps; ++warp) {
                    mine |= found[warp * warp_threads + lane_number()];
                }
                crossing[target * words + word] = mine;
            }
            __syncthreads();
        }
    }
}

SPNG_KERNEL or_neighbours(const Word* packed, Index rows, Index words, const int* neighbours, Index most,
                          Word* widened) {
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
SPNG_KERNEL multi_plane(const Word* mask, const Word* crossing, Index rows, Index ticks, int products,
                        int number, Word* result) {
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
