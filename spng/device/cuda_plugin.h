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
/// missing (a CPU-only LibTorch, a --slim installation), does not load, or needs a newer driver.
void load_cuda_plugin();

/// Make sure that CUDA device `number` can be computed on, and load_cuda_plugin().
/// @param asked  what the user wrote, for messages
/// @param where  the key it was written in
/// Throws Error(Device) that says which it is: no driver; a driver that does not start, in its own words; no
/// device of that number; and what load_cuda_plugin() throws.
void load_cuda_for(int number, const std::string& asked, const std::string& where);

/// Whether device=auto means CUDA device 0 here; loads what is needed where it does. Where a driver is there
/// and its devices cannot be used, a warning says why.
bool auto_means_cuda();

} // namespace spng
