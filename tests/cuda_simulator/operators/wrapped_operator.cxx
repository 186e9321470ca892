// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/simulator.h"

#include "tests/cuda_simulator/operators/wrapped_operator.h"

#include "tests/cuda_simulator/operators/active_operator.h"
#include "tests/cuda_simulator/operators/allocations.h"
#include "tests/cuda_simulator/operators/host_aliases.h"
#include "tests/cuda_simulator/operators/operator_traffic.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/nonzero.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <utility>
#include <vector>

namespace cuda_simulator {
namespace {

using torch::jit::Stack;

/// The last `count` values.
std::vector<c10::IValue> last_of(const Stack& stack, std::size_t count) {
    return {stack.end() - static_cast<std::ptrdiff_t>(count), stack.end()};
}

std::vector<at::Tensor> tensors_on_device(c10::ArrayRef<c10::IValue> values) {
    std::vector<at::Tensor> tensors;
    for (const c10::IValue& value : values) {
        append_tensors(value, tensors);
    }
    std::erase_if(tensors, [](const at::Tensor& tensor) { return !tensor.is_cuda(); });
    return tensors;
}

/// True if the operator writes to a tensor of the host.
bool writes_to_host(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> arguments) {
    std::vector<at::Tensor> written;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto* alias = schema.arguments()[i].alias_info();
        if (alias != nullptr && alias->isWrite()) {
            append_tensors(arguments[i], written);
        }
    }
    for (const at::Tensor& tensor : written) {
        if (!tensor.is_cuda()) {
            return true;
        }
    }
    return false;
}

/// Replace masks in a list of indices by the indices of their elements, as the kernel for CUDA does inside.
void expand_masks(Stack& stack, std::size_t count) {
    c10::IValue& argument = *(stack.end() - static_cast<std::ptrdiff_t>(count) + 1);
    bool has_mask = false;
    c10::List<std::optional<at::Tensor>> indices;
    for (const std::optional<at::Tensor>& index : argument.toOptionalTensorVector()) {
        if (index && index->defined() &&
            (index->scalar_type() == at::kBool || index->scalar_type() == at::kByte)) {
            has_mask = true;
            for (const at::Tensor& column : at::nonzero(*index).unbind(1)) {
                indices.push_back(column);
            }
        } else {
            indices.push_back(index);
        }
    }
    if (has_mask) {
        argument = std::move(indices);
    }
}

/// True for an operator whose second argument is a list of indices.
bool takes_masks(const c10::OperatorHandle& op) {
    const std::string& name = op.operator_name().name;
    return name == "aten::index" || name == "aten::_index_put_impl_";
}

/// True for a transform of cuFFT that no kernel of LibTorch completes.
bool is_one_sided_transform(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments) {
    return op.operator_name().name == "aten::_fft_r2c" && arguments[3].toBool();
}

} // namespace

WrappedOperator::WrappedOperator(const c10::OperatorHandle& op, OriginalKernel original)
    : m_name(toString(op.operator_name())), m_takes_masks(takes_masks(op)),
      m_is_own(m_name.starts_with("spng::")), m_special(special_operator(op)),
      m_original(std::move(original)) {
    if (m_special.compute) {
        m_compute = m_special.compute;
    } else if (op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)) {
        m_compute = cpu_kernel(op);
    }
}

void WrappedOperator::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
    const auto launch = [&] {
        if (m_special.original) {
            m_special.original(*stack);
        } else {
            m_original(op, keys, stack);
        }
    };
    const bool is_nested = ActiveOperator::current() != nullptr;
    follow_allocations();
    const std::size_t count = op.schema().arguments().size();
    if (m_takes_masks && !is_nested) {
        expand_masks(*stack, count);
    }
    const std::vector<c10::IValue> arguments = last_of(*stack, count);
    if (writes_to_host(op.schema(), arguments) || is_one_sided_transform(op, arguments)) {
        launch();
        return;
    }
    bool has_kernels = false;
    {
        const ActiveOperator active(m_name, tensors_on_device(arguments));
        launch();
        has_kernels = active.own_kernels() > 0;
    }
    const std::vector<c10::IValue> results = last_of(*stack, op.schema().returns().size());
    // Kernels of SPNG count the memory behind their pointers.
    if (has_kernels && !m_is_own) {
        queue_traffic(op, arguments, results);
    }
    if (is_nested) {
        return;
    }
    if (m_compute) {
        queue_numbers(op, m_compute, arguments, results);
    } else {
        report_defect(m_name + " is not computed: LibTorch has no kernel of it for the CPU");
    }
}

void ReadingOperator::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
    const std::string name = toString(op.operator_name());
    const std::size_t count = op.schema().arguments().size();
    const std::vector<c10::IValue> arguments = last_of(*stack, count);
    const auto device = cuda_device_of(arguments);
    if (const ActiveOperator* outer = ActiveOperator::current()) {
        report_defect(name + " reads values inside " + outer->name() + ", which are not computed yet");
    }
    if (!device) {
        m_original(op, keys, stack);
        return;
    }
    const c10::cuda::CUDAGuard guard(*device);
    const auto stream = c10::cuda::getCurrentCUDAStream();
    count_launch(*device, name.substr(name.find("::") + 2));
    c10::cuda::stream_synchronize(stream); // an error in a capture, as with a device
    torch::jit::drop(*stack, count);
    HostAliases aliases;
    Stack values;
    for (std::size_t i = 0; i < count; ++i) {
        values.push_back(aliases.of(arguments[i], *op.schema().arguments()[i].type()));
    }
    run_on_cpu(cpu_kernel(op), values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto* alias = op.schema().returns()[i].alias_info();
        TORCH_CHECK(alias == nullptr, "the simulated CUDA runtime has no ", name);
        if (!values[i].isTensor() || !values[i].toTensor().defined()) {
            stack->push_back(values[i]);
            continue;
        }
        const at::Tensor value = values[i].toTensor();
        const at::Tensor result =
            at::empty_strided(value.sizes(), value.strides(), value.options().device(*device));
        Operation upload;
        upload.kind = Kind::numbers;
        upload.name = name;
        append_accesses(result, true, upload.accesses);
        const c10::IValue target = aliases.of(c10::IValue(result), *op.schema().returns()[i].type());
        upload.compute = [value, target] {
            Stack none;
            run_on_cpu([&](Stack&) { target.toTensor().copy_(value); }, none);
        };
        enqueue(stream.stream(), std::move(upload));
        stack->emplace_back(result);
    }
}

CopyOperator::CopyOperator(const c10::OperatorHandle& op, OriginalKernel original)
    : m_original(original), m_on_device(op, std::move(original)) {}

void CopyOperator::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
    follow_allocations();
    const std::vector<c10::IValue> arguments = last_of(*stack, op.schema().arguments().size());
    const at::Tensor target = arguments[0].toTensor(), source = arguments[1].toTensor();
    if (target.is_cuda() && source.is_cuda() && target.device() == source.device()) {
        m_on_device(op, keys, stack);
        return;
    }
    const bool is_plain = target.scalar_type() == source.scalar_type() && target.is_contiguous() &&
                          source.is_contiguous() && target.is_conj() == source.is_conj() &&
                          target.is_neg() == source.is_neg();
    if (!target.is_cuda() || !source.is_cuda() || is_plain) {
        m_original(op, keys, stack);
        return;
    }
    // Between devices LibTorch's kernel reads and writes both memories at once. Here only plain copies cross.
    const at::Tensor dense = source.to(target.scalar_type()).resolve_conj().resolve_neg().contiguous();
    const at::Tensor received = at::empty_like(dense, dense.options().device(target.device()));
    received.copy_(dense);
    target.copy_(received);
    torch::jit::drop(*stack, arguments.size());
    stack->emplace_back(target);
}

} // namespace cuda_simulator
