// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes that make one tensor from another, the most common kind, and helpers for the outputs of all nodes.

#include "spng/graph/memory_rule.h"
#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spng {

/// Return a tensor with the axes, unit, domain, channels and notes of another. Noise levels and encodings of samples are
/// not copied.
NamedTensor like(const NamedTensor& tensor, std::string name, at::Tensor data);

/// Return the output of a node with one output port: tensors that belong to the event of an input.
/// @param reports  of the node about the event (reported.h)
Ports output_of(const TensorSetPtr& input, std::vector<NamedTensor> tensors, Reports reports = {});

/// Memory of a node whose output has the shape of its first input, for step_memory_rule().
struct StepMemory {
    MemoryUse use = MemoryUse::images;
    std::int64_t copies = 1;       ///< temporaries as large as the output in real numbers
    std::int64_t bytes = 0;        ///< other temporaries
    std::int64_t sample_bytes = 0; ///< of the output; 0: real numbers
};
std::shared_ptr<const MemoryRule> step_memory_rule(const StepMemory& memory = {});

/// Base of nodes that make one tensor from another: override step(), or reporting_step() in a node that
/// reports what it finds out on a device. The registration needs type, kind and text; ports,
/// and the memory rule for an output and a temporary as large as the input in real numbers, have defaults.
/// More tensors in the set, such as the ROIs of a readout window, are passed on.
template <detail::HasFields Config>
class TensorNode : public NodeWith<Config> {
public:
    /// Complete a registration.
    static void set_defaults(ComponentType& type) {
        type.inputs = type.inputs.empty() ? std::vector<std::string>{"waveforms"} : type.inputs;
        type.outputs = type.outputs.empty() ? type.inputs : type.outputs;
        type.memory = type.memory ? type.memory : step_memory_rule();
    }

protected:
    /// @param tensor  a copy of the input that shares its samples: replace members, never write into samples
    virtual NamedTensor step(NamedTensor tensor, const EventInfo& /*event*/) { return tensor; }
    /// @param reports  gets those of the node
    virtual NamedTensor reporting_step(NamedTensor tensor, const EventInfo& event, Reports& /*reports*/) {
        return step(std::move(tensor), event);
    }

private:
    Ports process(const Ports& inputs) final {
        std::vector<NamedTensor> tensors = inputs[0]->tensors();
        Reports reports;
        tensors.at(0) = reporting_step(std::move(tensors.at(0)), inputs[0]->event(), reports);
        return output_of(inputs[0], std::move(tensors), std::move(reports));
    }
};

} // namespace spng
