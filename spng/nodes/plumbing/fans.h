// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes that split, merge or discard sets.

#include "spng/graph/node.h"

#include <string>
#include <vector>

namespace spng {

struct FanConfig {
    int multiplicity = 1;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&FanConfig::multiplicity, "multiplicity", "ports", at_least(1), "number of branches"));
    }
};

/// Pass the same set to every output port, without a copy.
class FanoutTensorSets : public NodeWith<FanConfig> {
public:
    std::vector<std::string> output_ports() const override;

protected:
    Ports process(const Ports& inputs) override;
};

/// Merge the tensors of all inputs into one set. Two tensors with the same name are an Error(Internal).
class FaninTensorSets : public NodeWith<FanConfig> {
public:
    std::vector<std::string> input_ports() const override;

protected:
    Ports process(const Ports& inputs) override;
};

/// End of a branch: drop each set.
class Discard : public NodeWith<NoConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
