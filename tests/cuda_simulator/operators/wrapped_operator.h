// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels for CUDA that run LibTorch's own kernel for its launches, and the CPU's for the numbers.

#include "tests/cuda_simulator/operators/special_operators.h"

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace cuda_simulator {

/// LibTorch's kernel.
using OriginalKernel =
    std::function<void(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack)>;

/// An operator whose results have sizes that follow from those of its arguments.
class WrappedOperator : public c10::OperatorKernel {
public:
    WrappedOperator(const c10::OperatorHandle& op, OriginalKernel original);

    void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

private:
    std::string m_name;
    bool m_takes_masks; ///< as indices
    bool m_is_own;      ///< of SPNG
    SpecialOperator m_special;
    OriginalKernel m_original;
    StackFunction m_compute; ///< empty: there is none
};

/// An operator that waits for values: it is computed on the CPU at once, and its results are uploaded.
class ReadingOperator : public c10::OperatorKernel {
public:
    explicit ReadingOperator(OriginalKernel original) : m_original(std::move(original)) {}

    void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

private:
    OriginalKernel m_original;
};

/// aten::copy_. Copies from and to the host, and between devices, are real ones of the runtime.
class CopyOperator : public c10::OperatorKernel {
public:
    CopyOperator(const c10::OperatorHandle& op, OriginalKernel original);

    void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

private:
    OriginalKernel m_original;
    WrappedOperator m_on_device;
};

} // namespace cuda_simulator
