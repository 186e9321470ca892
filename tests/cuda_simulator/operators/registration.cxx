// SPDX-License-Identifier: Apache-2.0
// libSpngSimulatedOperators.so: when it is loaded, after libtorch_cuda, it wraps the kernels for CUDA.

#include "tests/cuda_simulator/simulator.h"

#include "tests/cuda_simulator/fft/transform.h"
#include "tests/cuda_simulator/operators/allocations.h"
#include "tests/cuda_simulator/operators/transform_on_cpu.h"
#include "tests/cuda_simulator/operators/wrapped_operator.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cuda_simulator {
namespace {

/// True if a result is a view of an argument, which has no values of its own.
bool returns_view(const c10::FunctionSchema& schema) {
    for (const c10::Argument& result : schema.returns()) {
        if (result.alias_info() != nullptr && !result.alias_info()->isWrite()) {
            return true;
        }
    }
    return false;
}

/// True if all results are tensors or lists of them.
bool returns_tensors(const c10::FunctionSchema& schema) {
    for (const c10::Argument& result : schema.returns()) {
        const c10::TypePtr type = result.type();
        if (!type->isSubtypeOf(*c10::TensorType::get()) && !type->isSubtypeOf(*c10::ListType::ofTensors())) {
            return false;
        }
    }
    return true;
}

/// Each overriding of a kernel is a warning of LibTorch, which the program does not cause.
class Quiet : public c10::WarningHandler {
public:
    void process(const c10::Warning&) override {}
};

template <class Kernel>
void override_kernel(const c10::OperatorHandle& op, std::unique_ptr<Kernel> kernel) {
    // Never taken back: LibTorch may be gone before static objects of this library.
    static auto& handles = *new std::vector<c10::RegistrationHandleRAII>;
    handles.push_back(c10::Dispatcher::singleton().registerImpl(
        op.operator_name(), c10::DispatchKey::CUDA,
        c10::KernelFunction::makeFromBoxedFunctor(std::move(kernel)), std::nullopt, nullptr,
        "simulated CUDA runtime"));
}

OriginalKernel original_kernel(const c10::OperatorHandle& op) {
    const auto kernel =
        std::make_shared<c10::SafeKernelFunction>(op.getComputedKernelForDispatchKey(c10::DispatchKey::CUDA));
    return [kernel](const c10::OperatorHandle& called, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
        kernel->callBoxed(called, keys, stack);
    };
}

void wrap(const c10::OperatorHandle& op) {
    const std::string& name = op.operator_name().name;
    if (name == "aten::copy_") {
        const auto composite = [](const c10::OperatorHandle& called, c10::DispatchKeySet,
                                  torch::jit::Stack* stack) {
            called.callBoxedForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd, *stack);
        };
        override_kernel(op, std::make_unique<CopyOperator>(op, composite));
    } else if (!op.hasKernelForDispatchKey(c10::DispatchKey::CUDA) || is_untouched(name) ||
               returns_view(op.schema())) {
        return;
    } else if (reads_values(name)) {
        override_kernel(op, std::make_unique<ReadingOperator>(original_kernel(op)));
    } else if (returns_tensors(op.schema())) {
        override_kernel(op, std::make_unique<WrappedOperator>(op, original_kernel(op)));
    }
}

void wrap_all() {
    Quiet quiet;
    const c10::WarningUtils::WarningHandlerGuard guard(&quiet);
    auto& dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
        if (const auto op = dispatcher.findSchema(name)) {
            wrap(*op);
        }
    }
}

const bool is_loaded = [] {
    cuda_simulator_set_transform(transform_on_cpu);
    wrap_all();
    follow_allocations();
    return true;
}();

} // namespace
} // namespace cuda_simulator
