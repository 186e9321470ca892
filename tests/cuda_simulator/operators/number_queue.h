// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers of an operator: an operation of the stream that runs the operator on the CPU.

#include "tests/cuda_simulator/simulator.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>
#include <c10/util/ArrayRef.h>

#include <functional>
#include <optional>
#include <string>

namespace cuda_simulator {

/// Replaces the arguments on a stack by the results.
using StackFunction = std::function<void(torch::jit::Stack& stack)>;

/// Return the CUDA device of the first tensor there that has one.
std::optional<c10::Device> cuda_device_of(c10::ArrayRef<c10::IValue> values);

/// Return the function that runs the operator's kernel for the CPU.
StackFunction cpu_kernel(const c10::OperatorHandle& op);

/// Run a function on CPU tensors, without gradients and without observers of the program.
void run_on_cpu(const StackFunction& function, torch::jit::Stack& stack);

/// Queue the numbers of a call in the current stream of its device.
/// @param arguments  of the call on CUDA
/// @param results  of the call on CUDA; the CPU's kernel itself writes those that are arguments too
void queue_numbers(const c10::OperatorHandle& op, const StackFunction& compute,
                   c10::ArrayRef<c10::IValue> arguments, c10::ArrayRef<c10::IValue> results);

/// Queue in the current stream of a device.
void enqueue_on(c10::Device device, Operation operation);

/// Count one launch of a kernel in the current stream of a device.
void count_launch(c10::Device device, const std::string& name);

} // namespace cuda_simulator
