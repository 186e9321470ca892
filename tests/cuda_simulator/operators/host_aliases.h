// SPDX-License-Identifier: Apache-2.0
#pragma once
// CPU tensors on the memory of CUDA tensors.

#include "tests/cuda_simulator/simulator.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <unordered_map>
#include <vector>

namespace cuda_simulator {

/// Aliases for one call of an operator: a tensor that is given twice has one alias.
class HostAliases {
public:
    /// Return an argument or a result for the CPU's kernel.
    /// CUDA tensors become aliases, which do not own memory; other tensors are copied.
    /// The device becomes the CPU, and a generator of random numbers the simulator's.
    c10::IValue of(const c10::IValue& value, const c10::Type& type);

private:
    at::Tensor of(const at::Tensor& tensor);

    std::unordered_map<const c10::TensorImpl*, at::Tensor> m_aliases;
};

/// Append the tensors of a value, alone or in a list, that are defined.
void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors);

/// Append the bytes between the first and the last element of each CUDA tensor of a value.
void append_accesses(const c10::IValue& value, bool is_write, std::vector<Access>& accesses);

} // namespace cuda_simulator
