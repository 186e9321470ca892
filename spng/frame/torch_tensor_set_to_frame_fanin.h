#pragma once
// SPNGTorchTensorSetToFrameFanin: from the tensors of all groups back to a frame, in the anode's channel
// order.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

class ViewGroups;

struct TorchTensorSetToFrameFaninConfig {
    std::string groups = "SPNGViewGroups";
    int multiplicity = 1;
    std::vector<std::string> tags = {"signal"};
    static constexpr auto fields() {
        using C = TorchTensorSetToFrameFaninConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::multiplicity, "multiplicity", "ports", at_least(1), "number of inputs"),
            field(&C::tags, "tags", "", not_empty(),
                  "tags of the frame: the tensors of that name from all inputs"));
    }
};

/// For each tag one tensor (channel, tick) on the host, rows in ascending channel number, all channels of the
/// anode; those that no input has are zero. Tensors at a coarser sampling are repeated to ticks. Masks become
/// int16 0 and 1, all else float32. Summaries are gathered the same way.
class TorchTensorSetToFrameFanin : public NodeWith<TorchTensorSetToFrameFaninConfig> {
public:
    std::vector<std::string> input_ports() const override;

protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    NamedTensor gather(const std::string& tag, const Ports& inputs) const;

    const ViewGroups* m_groups = nullptr;
    std::shared_ptr<const ChannelTable> m_channels; ///< of the output
};

} // namespace spng
