// SPDX-License-Identifier: Apache-2.0
#pragma once
// CUDA modules: the compiled kernels.

#include <span>

namespace spng::kernels {

/// All kernels, compiled for one kind of device.
struct CudaModule {
    int capability; ///< compute capability, 90 for 9.0
    bool is_ptx;    ///< PTX runs on this and all later devices, machine code only on its own generation
    const char* data;
};

/// Return the modules that the build embedded (waf/spng_cuda.py). Defined only in libWireCellSpngCuda.so.
std::span<const CudaModule> cuda_modules();

/// Return the best module for a device: machine code of its generation that is not newer than the device,
/// else the latest PTX that it supports. Null if there is none.
/// @param capability  of the device, as in CudaModule
const CudaModule* module_for(std::span<const CudaModule> modules, int capability);

} // namespace spng::kernels
