// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library that computes what LibTorch's kernels would (tests/cuda_simulator/operators). It is loaded when the
// program first uses a device, because its kernels replace those that libtorch_cuda registers when it is loaded.

#include <cstddef>

namespace cuda_simulator {

/// Load the library that is beside this one, once. Call it without the simulator's lock.
void load_operators();

/// True while this thread is in an operator whose numbers are computed. True if the library was not loaded.
bool is_in_operator();

/// True while the library computes the numbers of the operator that this thread is in. Copies on the device and fills
/// then do nothing: their values come from kernels that are not run, and might overwrite the operator's inputs.
bool is_computed_by_operator();

/// Bytes from an address to the end of the tensor around it among the arguments of the operators that this thread is
/// in; 0 if there is none. Elements that a strided tensor leaves out do not count.
std::size_t bytes_in_tensor(const void* address);

} // namespace cuda_simulator
