// SPDX-License-Identifier: Apache-2.0
#pragma once
// Launch kernels on CUDA devices. Uses the CUDA runtime, as LibTorch does for its own kernels, so that both
// look alike in profilers and CUDA graphs. Modules loaded with cudaLibraryLoadData belong to no context and
// are loaded on first use.

#include "spng/kernels/launch.h"

namespace spng::kernels {

/// Start a kernel on the current stream of its device. Does not wait. Allocates only in the first call for a
/// device, which must not be inside a capture.
/// @throws Error(Device), naming the kernel
void launch_on_cuda(const Launch& launch);

/// Return the dynamic shared memory that a block on this device may have; all kernels are set up for it [bytes].
std::int64_t shared_bytes_limit_of_cuda(c10::Device device);

} // namespace spng::kernels
