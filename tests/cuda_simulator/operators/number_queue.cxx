// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/simulator.h"

#include "tests/cuda_simulator/operators/host_aliases.h"
#include "tests/cuda_simulator/operators/number_queue.h"

#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/StringUtil.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuda_simulator {
namespace {

/// Copy what the CPU's kernel returned to where the original kernel allocated it.
void write_result(const c10::IValue& result, const c10::IValue& target) {
    std::vector<at::Tensor> results, targets;
    append_tensors(result, results);
    append_tensors(target, targets);
    TORCH_CHECK(results.size() == targets.size(), "the CPU returns ", results.size(), " tensors, CUDA ",
                targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i].numel() == 0 && results[i].numel() == 0) {
            continue;
        }
        TORCH_CHECK(results[i].sizes() == targets[i].sizes() &&
                        results[i].scalar_type() == targets[i].scalar_type(),
                    "the CPU returns ", results[i].toString(), results[i].sizes(), ", CUDA ",
                    targets[i].toString(), targets[i].sizes());
        targets[i].copy_(results[i]);
    }
}

} // namespace

void enqueue_on(c10::Device device, Operation operation) {
    const c10::cuda::CUDAGuard guard(device);
    enqueue(c10::cuda::getCurrentCUDAStream(device.index()).stream(), std::move(operation));
}

std::optional<c10::Device> cuda_device_of(c10::ArrayRef<c10::IValue> values) {
    std::vector<at::Tensor> tensors;
    for (const c10::IValue& value : values) {
        append_tensors(value, tensors);
    }
    for (const at::Tensor& tensor : tensors) {
        if (tensor.is_cuda()) {
            return tensor.device();
        }
    }
    return std::nullopt;
}

StackFunction cpu_kernel(const c10::OperatorHandle& op) {
    return [op](torch::jit::Stack& stack) {
        op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    };
}

void run_on_cpu(const StackFunction& function, torch::jit::Stack& stack) {
    const c10::InferenceMode inference;
    const c10::impl::ExcludeDispatchKeyGuard exact(c10::autocast_dispatch_keyset);
    const at::DisableRecordFunctionGuard unobserved;
    function(stack);
}

namespace {

/// Whether a return address is in CUDAGraph::replay().
bool is_in_replay(void* address) {
    thread_local std::unordered_map<void*, bool> known; // dladdr() goes through all symbols of a library
    const auto [entry, is_new] = known.try_emplace(address, false);
    if (is_new) {
        Dl_info info{};
        entry->second = dladdr(address, &info) != 0 && info.dli_sname != nullptr &&
                        std::string_view(info.dli_sname) == "_ZN2at4cuda9CUDAGraph6replayEv";
    }
    return entry->second;
}

/// True for a call by CUDAGraph::replay(), which sets seed and offset of LibTorch's generator of random numbers before
/// each replay. Replays in several streams write them without order. That is a race of LibTorch's own, and of no
/// consequence for graphs without random numbers.
bool sets_generator_of_graphs(const std::string& name, c10::ArrayRef<c10::IValue> arguments) {
    if (name != "aten::fill_.Scalar" || arguments[0].toTensor().numel() != 1) {
        return false;
    }
    std::array<void*, 40> frames{};
    const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
    return std::any_of(frames.begin(), frames.begin() + depth, is_in_replay);
}

} // namespace

void queue_numbers(const c10::OperatorHandle& op, const StackFunction& compute,
                   c10::ArrayRef<c10::IValue> arguments, c10::ArrayRef<c10::IValue> results) {
    const auto device = cuda_device_of(arguments);
    const auto device_of_results = cuda_device_of(results);
    if (!device && !device_of_results) {
        return;
    }
    const c10::FunctionSchema& schema = op.schema();
    Operation operation;
    operation.kind = Kind::numbers;
    operation.name = toString(op.operator_name());
    HostAliases aliases;
    const c10::InferenceMode inference;
    torch::jit::Stack inputs;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const c10::Argument& argument = schema.arguments()[i];
        const bool is_written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
        inputs.push_back(aliases.of(arguments[i], *argument.type()));
        if (!is_written || !argument.is_out()) {
            append_accesses(arguments[i], false, operation.accesses);
        }
        if (is_written) {
            append_accesses(arguments[i], true, operation.accesses);
        }
    }
    // The results that are not arguments too, each with its index.
    std::vector<std::pair<std::size_t, c10::IValue>> targets;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const c10::Argument& result = schema.returns()[i];
        if (result.alias_info() == nullptr) {
            targets.emplace_back(i, aliases.of(results[i], *result.type()));
            append_accesses(results[i], true, operation.accesses);
        }
    }
    if (detects_races() && sets_generator_of_graphs(operation.name, arguments)) {
        operation.accesses.clear();
    }
    operation.compute = [compute, inputs = std::move(inputs), targets = std::move(targets),
                         name = operation.name] {
        try {
            torch::jit::Stack stack = inputs;
            run_on_cpu(
                [&](torch::jit::Stack& values) {
                    compute(values);
                    for (const auto& [index, target] : targets) {
                        write_result(values.at(index), target);
                    }
                },
                stack);
        } catch (const std::exception& error) {
            report_defect(c10::str(name, " is not computed: ", error.what()));
        }
    };
    enqueue_on(device ? *device : *device_of_results, std::move(operation));
}

void count_launch(c10::Device device, const std::string& name) {
    Operation operation;
    operation.kind = Kind::kernel;
    operation.name = name;
    enqueue_on(device, std::move(operation));
}

} // namespace cuda_simulator
