// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/plumbing/fans.h"

#include "spng/graph/memory_rule.h"

namespace spng {
namespace {

const Registration<FanoutTensorSets> fanout_registration{{.type = "SPNGFanoutTensorSets",
                                                          .kind = "plumbing",
                                                          .inputs = {"set"},
                                                          .outputs = {"*"},
                                                          .text = "passes a set to several branches",
                                                          .memory = passing_memory_rule()}};
const Registration<FaninTensorSets> fanin_registration{
    {.type = "SPNGFaninTensorSets",
     .kind = "plumbing",
     .inputs = {"*"},
     .outputs = {"set"},
     .text = "merges the tensors of several branches into one set",
     .memory = passing_memory_rule()}};
const Registration<Discard> discard_registration{{.type = "SPNGDiscard",
                                                  .kind = "plumbing",
                                                  .inputs = {"set"},
                                                  .text = "ends a branch that is not needed",
                                                  .memory = passing_memory_rule()}};

std::vector<std::string> branch_names(int multiplicity) {
    std::vector<std::string> names;
    for (int branch = 0; branch < multiplicity; ++branch) {
        names.push_back("branch" + std::to_string(branch));
    }
    return names;
}

} // namespace

std::vector<std::string> FanoutTensorSets::output_ports() const {
    return branch_names(config().multiplicity);
}

Ports FanoutTensorSets::process(const Ports& inputs) {
    return Ports(config().multiplicity, inputs[0]);
}

std::vector<std::string> FaninTensorSets::input_ports() const {
    return branch_names(config().multiplicity);
}

Ports FaninTensorSets::process(const Ports& inputs) {
    return {merge(inputs)};
}

Ports Discard::process(const Ports&) {
    return {};
}

} // namespace spng
