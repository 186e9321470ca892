// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library of our own CUDA kernels, beside this one (docs/decisions/cuda-kernels.md).

#include <filesystem>

namespace spng {

/// Return the path of libWireCellSpngCuda.so: in the folder of libWireCellSpng.so.
std::filesystem::path kernel_library_file();

/// Load this library. LibTorch's CUDA libraries must be loaded before.
/// @throws Error(Device) if it does not load
void load_kernel_library(const std::filesystem::path& file);

} // namespace spng
