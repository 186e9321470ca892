// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/simulator.h"

#include "tests/cuda_simulator/operators/operator_traffic.h"

#include "tests/cuda_simulator/operators/active_operator.h"
#include "tests/cuda_simulator/operators/host_aliases.h"
#include "tests/cuda_simulator/operators/number_queue.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace cuda_simulator {
namespace {

/// The first argument is written, not read.
bool overwrites(const std::string& name) {
    static const std::set<std::string> names = {"aten::copy_",    "aten::fill_",   "aten::zero_",
                                                "aten::uniform_", "aten::normal_", "aten::random_"};
    return names.contains(name);
}

/// As many elements of the first argument are read as the result has.
bool gathers(const std::string& name) {
    static const std::set<std::string> names = {"aten::index", "aten::index_select", "aten::gather",
                                                "aten::take"};
    return names.contains(name);
}

/// As many elements of the first argument are written, and not read, as the largest other argument has.
bool scatters(const std::string& name) {
    static const std::set<std::string> names = {"aten::_index_put_impl_", "aten::index_put_",
                                                "aten::index_copy_", "aten::index_fill_", "aten::scatter_"};
    return names.contains(name);
}

std::vector<at::Tensor> tensors_of(const c10::IValue& value) {
    std::vector<at::Tensor> tensors;
    append_tensors(value, tensors);
    std::erase_if(tensors, [](const at::Tensor& tensor) { return !tensor.is_cuda(); });
    return tensors;
}

std::size_t bytes_of(const c10::IValue& value) {
    std::size_t bytes = 0;
    for (const at::Tensor& tensor : tensors_of(value)) {
        bytes += bytes_of_elements(tensor);
    }
    return bytes;
}

} // namespace

Traffic traffic_of(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                   c10::ArrayRef<c10::IValue> results) {
    const std::string& name = op.operator_name().name;
    const c10::FunctionSchema& schema = op.schema();
    Traffic traffic;
    std::set<const void*> read;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const c10::Argument& argument = schema.arguments()[i];
        const bool is_written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
        const bool is_read =
            !is_written || !(argument.is_out() || (i == 0 && (overwrites(name) || scatters(name))));
        std::size_t limit = std::numeric_limits<std::size_t>::max();
        if (i == 0 && gathers(name)) {
            limit = bytes_of(results[0]);
        } else if (i == 0 && scatters(name)) {
            limit = 0;
            for (const c10::IValue& other : arguments.slice(1)) {
                limit = std::max(limit, bytes_of(other));
            }
        }
        for (const at::Tensor& tensor : tensors_of(arguments[i])) {
            const std::size_t bytes = std::min(limit, bytes_of_elements(tensor));
            traffic.written += is_written ? bytes : 0;
            traffic.read += is_read && read.insert(tensor.const_data_ptr()).second ? bytes : 0;
        }
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        traffic.written += schema.returns()[i].alias_info() == nullptr ? bytes_of(results[i]) : 0;
    }
    return traffic;
}

void queue_traffic(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
                   c10::ArrayRef<c10::IValue> results) {
    const auto device = cuda_device_of(arguments);
    const auto any_device = device ? device : cuda_device_of(results);
    if (any_device) {
        Operation operation;
        operation.kind = Kind::numbers;
        operation.name = toString(op.operator_name());
        operation.traffic = traffic_of(op, arguments, results);
        enqueue_on(*any_device, std::move(operation));
    }
}

} // namespace cuda_simulator
