// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/operators/special_operators.h"

#include "tests/cuda_simulator/simulator.h"

#include "tests/cuda_simulator/operators/active_operator.h"

#include <ATen/native/ConvUtils.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/relu.h>

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace cuda_simulator {
namespace {

using torch::jit::Stack;

/// Arguments of a call of a convolution, by name.
class Arguments {
public:
    Arguments(const c10::OperatorHandle& op, const Stack& stack) : m_schema(op.schema()), m_stack(stack) {}

    bool has(const std::string& name) const { return m_schema.argumentIndexWithName(name).has_value(); }
    const c10::IValue& at(const std::string& name) const {
        return m_stack.at(static_cast<std::size_t>(m_schema.argumentIndexWithName(name).value()));
    }
    at::Tensor tensor(const std::string& name) const { return at(name).toTensor(); }
    /// Return nothing if the operator has no such argument or is called without it.
    std::optional<at::Tensor> optional_tensor(const std::string& name) const {
        return has(name) ? at(name).toOptional<at::Tensor>() : std::nullopt;
    }
    std::vector<std::int64_t> sizes(const std::string& name) const { return at(name).toIntVector(); }
    /// Return 1 for an operator without groups: its channels are on their own.
    std::int64_t groups() const { return has("groups") ? at("groups").toInt() : tensor("weight").size(0); }
    std::vector<std::int64_t> output_padding() const {
        return has("output_padding") ? sizes("output_padding")
                                     : std::vector<std::int64_t>(sizes("padding").size(), 0);
    }
    bool is_transposed() const { return has("output_padding"); }

private:
    const c10::FunctionSchema& m_schema;
    const Stack& m_stack;
};

/// Sizes of the output of a convolution.
std::vector<std::int64_t> output_sizes(const Arguments& arguments) {
    const at::Tensor input = arguments.tensor("self"), weight = arguments.tensor("weight");
    const auto padding = arguments.sizes("padding"), stride = arguments.sizes("stride"),
               dilation = arguments.sizes("dilation");
    if (arguments.is_transposed()) {
        return at::native::conv_input_size(input.sizes(), weight.sizes(), padding, arguments.output_padding(),
                                           stride, dilation, arguments.groups());
    }
    return at::native::conv_output_size(input.sizes(), weight.sizes(), padding, stride, dilation);
}

/// Do as cuDNN's operators: make the inputs contiguous in the format of the output, allocate it, launch.
StackFunction convolution_without_cudnn(const c10::OperatorHandle& op) {
    return [op](Stack& stack) {
        const Arguments arguments(op, stack);
        const at::Tensor input = arguments.tensor("self"), weight = arguments.tensor("weight");
        const auto format = at::native::cudnn_conv_suggest_memory_format(input, weight);
        at::Tensor output;
        if (arguments.has("out")) {
            output = arguments.tensor("out");
        } else {
            output = at::empty(output_sizes(arguments), input.options(), format);
        }
        const ActiveOperator copies(toString(op.operator_name()));
        const at::Tensor dense_input = input.contiguous(format), dense_weight = weight.contiguous(format);
        count_launch(input.device(), op.operator_name().name.substr(op.operator_name().name.find("::") + 2));
        torch::jit::drop(stack, op.schema().arguments().size());
        stack.emplace_back(std::move(output));
    };
}

/// Convolution, then what the operator fuses with it.
StackFunction convolution_on_cpu(const c10::OperatorHandle& op) {
    return [op](Stack& stack) {
        const Arguments arguments(op, stack);
        at::Tensor output = at::convolution(
            arguments.tensor("self"), arguments.tensor("weight"), arguments.optional_tensor("bias"),
            arguments.sizes("stride"), arguments.sizes("padding"), arguments.sizes("dilation"),
            arguments.is_transposed(), arguments.output_padding(), arguments.groups());
        if (arguments.has("z")) {
            const auto alpha = arguments.at("alpha").toOptional<at::Scalar>();
            output.add_(arguments.tensor("z"), alpha.value_or(1));
        }
        if (op.operator_name().name.ends_with("_relu")) {
            output.relu_();
        }
        if (arguments.has("out")) {
            arguments.tensor("out").copy_(output);
        }
        torch::jit::drop(stack, op.schema().arguments().size());
        stack.emplace_back(std::move(output));
    };
}

/// cudnn_batch_norm with given mean and variance. In training it also returns values for the gradient.
StackFunction batch_norm_without_cudnn(const c10::OperatorHandle& op) {
    return [op](Stack& stack) {
        const Arguments arguments(op, stack);
        TORCH_CHECK(!arguments.at("training").toBool(),
                    "the simulated CUDA runtime has no cudnn_batch_norm for training");
        const at::Tensor input = arguments.tensor("input"), weight = arguments.tensor("weight");
        const at::Tensor output = at::empty_like(input);
        count_launch(input.device(), "cudnn_batch_norm");
        torch::jit::drop(stack, op.schema().arguments().size());
        const at::Tensor none = at::empty({0}, weight.options());
        stack.insert(stack.end(), {output, none, none, at::empty({0}, input.options().dtype(at::kByte))});
    };
}

StackFunction batch_norm_on_cpu(const c10::OperatorHandle& op) {
    return [op](Stack& stack) {
        const Arguments arguments(op, stack);
        const at::Tensor output = std::get<0>(at::native_batch_norm(
            arguments.tensor("input"), arguments.tensor("weight"), arguments.optional_tensor("bias"),
            arguments.optional_tensor("running_mean"), arguments.optional_tensor("running_var"), false,
            arguments.at("exponential_average_factor").toDouble(), arguments.at("epsilon").toDouble()));
        torch::jit::drop(stack, op.schema().arguments().size());
        const at::Tensor none = at::empty({0});
        stack.insert(stack.end(), {output, none, none, none});
    };
}

/// The same value with tensors of the same sizes and strides, without memory.
c10::IValue without_memory(const c10::IValue& value) {
    if (!value.isTensor() || !value.toTensor().defined()) {
        return value;
    }
    const at::Tensor tensor = value.toTensor();
    return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMeta));
}

/// Allocate the results with the sizes and strides that the operator finds for tensors without memory.
StackFunction product_without_cublas(const c10::OperatorHandle& op) {
    return [op](Stack& stack) {
        const auto device = cuda_device_of(stack);
        const std::size_t count = op.schema().arguments().size();
        const Stack arguments(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end());
        Stack planned;
        for (const c10::IValue& argument : arguments) {
            planned.push_back(without_memory(argument));
        }
        op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &planned);
        torch::jit::drop(stack, count);
        const at::Tensor plan = planned.at(0).toTensor();
        const c10::Argument& result = op.schema().returns().at(0);
        if (result.alias_info() == nullptr) {
            stack.emplace_back(
                at::empty_strided(plan.sizes(), plan.strides(), plan.options().device(device.value())));
        } else {
            for (std::size_t i = 0; i < count; ++i) {
                const auto* alias = op.schema().arguments()[i].alias_info();
                if (alias != nullptr && alias->isWrite()) {
                    const at::Tensor written = arguments[i].toTensor();
                    if (written.sizes() != plan.sizes()) {
                        written.resize_(plan.sizes());
                    }
                    stack.emplace_back(written);
                }
            }
        }
        count_launch(device.value(), "cublas_" + op.operator_name().name.substr(6));
    };
}

} // namespace

SpecialOperator special_operator(const c10::OperatorHandle& op) {
    static const std::set<std::string> cudnn_convolutions = {
        "aten::cudnn_convolution", "aten::cudnn_convolution_transpose", "aten::cudnn_convolution_relu",
        "aten::cudnn_convolution_add_relu"};
    static const std::set<std::string> depthwise_convolutions = {"aten::_conv_depthwise2d",
                                                                 "aten::conv_depthwise3d"};
    static const std::set<std::string> products = {"aten::mm",       "aten::mv",
                                                   "aten::bmm",      "aten::dot",
                                                   "aten::vdot",     "aten::addmm",
                                                   "aten::addmv",    "aten::addmv_",
                                                   "aten::addmm_",   "aten::baddbmm",
                                                   "aten::baddbmm_", "aten::addbmm",
                                                   "aten::addbmm_",  "aten::_addmm_activation"};
    const std::string& name = op.operator_name().name;
    if (cudnn_convolutions.contains(name)) {
        return {convolution_without_cudnn(op), convolution_on_cpu(op)};
    }
    if (depthwise_convolutions.contains(name)) {
        return {{}, convolution_on_cpu(op)};
    }
    if (name == "aten::cudnn_batch_norm" && op.operator_name().overload_name.empty()) {
        return {batch_norm_without_cudnn(op), batch_norm_on_cpu(op)};
    }
    if (products.contains(name)) {
        return {product_without_cublas(op), {}};
    }
    return {};
}

bool reads_values(const std::string& name) {
    static const std::set<std::string> names = {"aten::nonzero",
                                                "aten::masked_select",
                                                "aten::_unique",
                                                "aten::_unique2",
                                                "aten::unique_dim",
                                                "aten::unique_consecutive",
                                                "aten::unique_dim_consecutive",
                                                "aten::repeat_interleave",
                                                "aten::bincount",
                                                "aten::equal"};
    return names.contains(name);
}

bool is_untouched(const std::string& name) {
    static const std::set<std::string> names = {
        // no values
        "aten::empty", "aten::empty_strided", "aten::resize_", "aten::set_", "aten::record_stream",
        "aten::is_set_to", "aten::is_pinned", "aten::_pin_memory", "aten::_cudnn_init_dropout_state",
        "aten::_efficientzerotensor",
        // cuFFT's transforms are operations themselves
        "aten::_fft_c2c", "aten::_fft_c2r",
        // copies a value to the host and waits
        "aten::_local_scalar_dense"};
    return names.contains(name) || (emulates_kernels() && name.starts_with("spng::"));
}

} // namespace cuda_simulator
