// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/operators/host_aliases.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/List.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>

#include <optional>

namespace cuda_simulator {
namespace {

constexpr std::uint64_t generator_seed = 20261123;

/// The generator of the CPU's kernels, so that those of the program do not advance.
const at::Generator& generator() {
    static const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(generator_seed);
    return generator;
}

at::Tensor alias_of(const at::Tensor& tensor) {
    const auto options = tensor.options().device(at::kCPU);
    at::Tensor alias = tensor.numel() == 0 ? at::empty_strided(tensor.sizes(), tensor.strides(), options)
                                           : at::from_blob(host_address(tensor.const_data_ptr()),
                                                           tensor.sizes(), tensor.strides(), options);
    alias._set_conj(tensor.is_conj());
    alias._set_neg(tensor.is_neg());
    return alias;
}

} // namespace

at::Tensor HostAliases::of(const at::Tensor& tensor) {
    if (!tensor.defined()) {
        return tensor;
    }
    at::Tensor& alias = m_aliases[tensor.unsafeGetTensorImpl()];
    if (!alias.defined()) {
        alias = tensor.is_cuda() ? alias_of(tensor) : tensor.clone();
        // A number in the program's code, which does not decide on the type of the result.
        if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
            alias.unsafeGetTensorImpl()->set_wrapped_number(true);
        }
    }
    return alias;
}

c10::IValue HostAliases::of(const c10::IValue& value, const c10::Type& type) {
    if (value.isTensor()) {
        return of(value.toTensor());
    }
    if (value.isTensorList()) {
        c10::List<at::Tensor> aliases;
        for (const at::Tensor& tensor : value.toTensorVector()) {
            aliases.push_back(of(tensor));
        }
        return aliases;
    }
    if (value.isOptionalTensorList()) {
        c10::List<std::optional<at::Tensor>> aliases;
        for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
            aliases.push_back(tensor ? std::optional(of(*tensor)) : std::nullopt);
        }
        return aliases;
    }
    if (value.isDevice()) {
        return c10::Device(at::kCPU);
    }
    const auto* optional = type.castRaw<c10::OptionalType>();
    if (optional != nullptr && optional->getElementType()->kind() == c10::TypeKind::GeneratorType) {
        return generator();
    }
    return value;
}

void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
    const auto append = [&](const at::Tensor& tensor) {
        if (tensor.defined()) {
            tensors.push_back(tensor);
        }
    };
    if (value.isTensor()) {
        append(value.toTensor());
    } else if (value.isTensorList()) {
        for (const at::Tensor& tensor : value.toTensorVector()) {
            append(tensor);
        }
    } else if (value.isOptionalTensorList()) {
        for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
            append(tensor.value_or(at::Tensor()));
        }
    }
}

void append_accesses(const c10::IValue& value, bool is_write, std::vector<Access>& accesses) {
    std::vector<at::Tensor> tensors;
    append_tensors(value, tensors);
    for (const at::Tensor& tensor : tensors) {
        if (!tensor.is_cuda() || tensor.numel() == 0) {
            continue;
        }
        std::int64_t last = 0;
        for (std::int64_t i = 0; i < tensor.dim(); ++i) {
            last += (tensor.size(i) - 1) * tensor.stride(i);
        }
        accesses.push_back(
            {tensor.const_data_ptr(), static_cast<std::size_t>(last + 1) * tensor.element_size(), is_write});
    }
}

} // namespace cuda_simulator
