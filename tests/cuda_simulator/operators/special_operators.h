// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators whose CUDA kernel calls cuDNN or cuBLAS, which need a device, or has no counterpart for the CPU.

#include "tests/cuda_simulator/operators/number_queue.h"

#include <string>

namespace cuda_simulator {

struct SpecialOperator {
    /// Instead of LibTorch's CUDA kernel: allocate the results and count the launches.
    /// Empty: LibTorch's kernel runs.
    StackFunction original;
    /// Instead of the operator's kernel for the CPU. Empty: that kernel runs.
    StackFunction compute;
};

/// Return what is special about an operator.
SpecialOperator special_operator(const c10::OperatorHandle& op);

/// Operators that read back values of the device, so that the size of their result is known to the host.
bool reads_values(const std::string& name);

/// Operators that are left as they are: they write no values, or run others that are wrapped.
bool is_untouched(const std::string& name);

} // namespace cuda_simulator
