#pragma once
// Sizes that the kernels and the host's side must agree on. Plain C++ without any header: nvcc and NVRTC read
// it as well as the host's compiler.

namespace spng::kernels {

constexpr unsigned warp_threads = 32;
constexpr unsigned block_threads = 256; ///< of every kernel
constexpr unsigned block_warps = block_threads / warp_threads;

/// Values that a block reduces at once, and the words of shared memory for the partial results of two
/// reductions.
constexpr unsigned reduction_values = 3;
constexpr unsigned reduction_words = 2 * reduction_values * block_warps;

/// Of clipped_running_sum: results of a thread, and of a block.
constexpr int results_of_thread = 7;
constexpr int tile_ticks = results_of_thread * static_cast<int>(block_threads);

} // namespace spng::kernels
