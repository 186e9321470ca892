// SPDX-License-Identifier: Apache-2.0
#include "spng/graph/tensor_node.h"

namespace spng {

NamedTensor like(const NamedTensor& tensor, std::string name, at::Tensor data) {
    NamedTensor result;
    result.name = std::move(name);
    result.data = std::move(data);
    result.axes = tensor.axes;
    result.unit = tensor.unit;
    result.domain = tensor.domain;
    result.channels = tensor.channels;
    result.notes = tensor.notes;
    return result;
}

Ports output_of(const TensorSetPtr& input, std::vector<NamedTensor> tensors, Reports reports) {
    return {std::make_shared<const TensorSet>(input->event_ptr(), std::move(tensors), std::move(reports))};
}

std::shared_ptr<const MemoryRule> step_memory_rule(const StepMemory& memory) {
    MemoryRule rule;
    rule.call = [memory](const Component&, PlannedCall& call) -> std::vector<PlannedSet> {
        PlannedSet tensors = call.inputs.at(0);
        const auto copies = call.scratch(memory.use, memory.copies * tensors.at(0).samples() * call.real);
        const auto other = call.scratch(memory.use, memory.bytes);
        const std::int64_t bytes = memory.sample_bytes > 0 ? memory.sample_bytes : call.real;
        tensors.at(0) = call.make(tensors.at(0), memory.use, bytes);
        return {tensors};
    };
    return std::make_shared<const MemoryRule>(std::move(rule));
}

} // namespace spng
