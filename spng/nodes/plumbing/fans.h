#pragma once
// Nodes that only pass sets on: to several branches, from several branches, or to nowhere.

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

/// The same set on every output port; nothing is copied.
class FanoutTensorSets : public NodeWith<FanConfig> {
public:
    std::vector<std::string> output_ports() const override;

protected:
    Ports process(const Ports& inputs) override;
};

/// One set with the tensors of all inputs. Throws Error(Internal) when two of them share a name.
class FaninTensorSets : public NodeWith<FanConfig> {
public:
    std::vector<std::string> input_ports() const override;

protected:
    Ports process(const Ports& inputs) override;
};

/// Takes sets that nobody needs.
class Discard : public NodeWith<NoConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
