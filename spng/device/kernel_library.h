#pragma once
// Our own CUDA kernels, a library beside this one (docs/decisions/cuda-kernels.md).

namespace spng {

/// Open libWireCellSpngCuda.so from the folder of libWireCellSpng.so; its operators then run as own kernels
/// on CUDA. Where it is missing or does not load, one log line says so, and they run as compositions of
/// LibTorch's operations. SPNG_CUDA_KERNELS=no in the environment leaves it closed. LibTorch's CUDA libraries
/// must be loaded.
void load_kernel_library();

} // namespace spng
