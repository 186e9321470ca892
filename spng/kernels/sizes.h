// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sizes shared by the kernels and the host side. Plain C++ without any header, since nvcc, NVRTC and the host
// compiler read it.

namespace spng::kernels {

constexpr unsigned warp_threads = 32;
constexpr unsigned block_threads = 256; ///< of every kernel
constexpr unsigned block_warps = block_threads / warp_threads;

/// Maximum values that a block reduces at once, and words of shared memory for the partial results of two
/// reductions.
constexpr unsigned reduction_values = 3;
constexpr unsigned reduction_words = 2 * reduction_values * block_warps;

/// Values as one parameter of a kernel.
template <class T, int Size>
struct List {
    T at[Size];
};

/// pack_levels: waveforms and levels of a launch.
constexpr int max_waveforms = 8;
constexpr int max_levels = 32;

/// grow_regions: passes of a launch.
constexpr int max_passes = 8;

/// clipped_running_sum: lengths of a launch.
constexpr int max_lengths = 8;

/// stack_features: features of a launch.
constexpr int max_features = 8;

/// clipped_running_sum: results per thread, and per block.
constexpr int results_of_thread = 7;
constexpr int tile_ticks = results_of_thread * static_cast<int>(block_threads);

/// Radices of transforms: of all stages, and of the innermost one, which also multiplies.
constexpr int max_radix = 10, max_inner_radix = 8;

/// deconvolve: bytes of adjacent frequencies of a channel that a block reads and writes.
constexpr unsigned tile_bytes = 64;

} // namespace spng::kernels
