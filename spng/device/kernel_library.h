// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library of our own CUDA kernels, beside this one (docs/decisions/cuda-kernels.md).

namespace spng {

/// Load libWireCellSpngCuda.so from the folder of libWireCellSpng.so. Our operators then use its CUDA
/// kernels. If it is missing or does not load, they run as compositions of LibTorch's operations, and one log
/// line reports it. SPNG_CUDA_KERNELS=no in the environment prevents the loading. LibTorch's CUDA libraries must
/// be loaded before.
/// @throws Error(Usage) if SPNG_CUDA_KERNELS is neither yes nor no
void load_kernel_library();

} // namespace spng
