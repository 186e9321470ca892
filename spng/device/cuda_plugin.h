// SPDX-License-Identifier: Apache-2.0
#pragma once
// CUDA as a plugin: the program links no CUDA library and loads them only for a CUDA device. Programs on
// machines without a GPU therefore start fast and stay small.

#include <string>

namespace spng {

/// Return the count of CUDA devices from the driver alone (libcuda.so.1); 0 without a driver or a device.
/// Loads no CUDA library of LibTorch.
int cuda_device_count();

/// Load libtorch_cuda into the process; later calls do nothing. Call it before any use of ATen's CUDA
/// interface, because ATen caches its CUDA hooks at the first use.
/// @throws Error(Device) if the library is missing (a CPU-only LibTorch, a --slim installation), does not
/// load, or needs a newer driver
void load_cuda_plugin();

/// Load the CUDA libraries and check that CUDA device `index` can be used.
/// @param asked  the device as the user wrote it, for messages
/// @param where  the configuration key, for messages
/// @throws Error(Device) naming the reason: no driver; a driver that does not start, with its own text; no
/// device of that index; and as load_cuda_plugin()
void load_cuda_for(int index, const std::string& asked, const std::string& where);

/// Return true if device=auto means CUDA device 0 on this machine, and load the CUDA libraries in that case.
/// Log a warning with the reason if there is a driver but its devices cannot be used. The first call decides for the
/// process.
bool auto_means_cuda();

} // namespace spng
