#pragma once
// Kernels on CUDA devices. By the CUDA runtime, as LibTorch launches its own, so that both look alike to
// profilers and in CUDA graphs; its libraries of code (cudaLibraryLoadData) belong to no context, and images
// are loaded on first use.

#include "spng/kernels/launch.h"

namespace spng::kernels {

/// Start a kernel on the current stream of its device. Does not wait, and allocates nothing but on the first
/// call for a device, which must not be inside of a capture. Throws Error(Device), naming the kernel.
void launch_on_cuda(const Launch& launch);

} // namespace spng::kernels
