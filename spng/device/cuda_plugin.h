#pragma once
// CUDA is a plugin: the program links no CUDA library. They are loaded when a CUDA device is asked for, so
// that a machine without a GPU starts fast and stays small (design.md 3.6).

#include <string>

namespace spng {

/// Number of CUDA devices by the driver alone (libcuda.so.1); 0 where there is no driver or no device. Loads
/// no CUDA library of torch.
int cuda_device_count();

/// Load libtorch_cuda into the process; later calls do nothing. Must come before anything asks ATen about
/// CUDA, because ATen caches its CUDA hooks at the first question. Throws Error(Device) when the library is
/// missing (a CPU-only LibTorch, a --slim installation) or does not load.
void load_cuda_plugin();

} // namespace spng
