// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library that computes what LibTorch's kernels would (tests/cuda_simulator/operators). It is loaded when the
// program first uses a device, because its kernels replace those that libtorch_cuda registers when it is loaded.

namespace cuda_simulator {

/// Load the library that is beside this one, once. Call it without the simulator's lock.
void load_operators();

/// True while this thread is in an operator whose numbers are computed. True if the library was not loaded.
bool is_in_operator();

/// True while the library computes the numbers of the operator that this thread is in. Copies on the device and fills
/// then do nothing: their values come from kernels that are not run, and might overwrite the operator's inputs.
bool is_computed_by_operator();

} // namespace cuda_simulator
