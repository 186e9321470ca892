#pragma once
// SPNGNoTileMPCoincidence: where and when the planes of an anode agree, for the channels of one group of
// views. The group may hold views of several anodes; each channel is held against the planes of its own.

#include "spng/graph/node.h"
#include "spng/nodes/coincidence/coincidence.h"

#include <string>
#include <vector>

namespace spng {

class ViewGroups;

struct NoTileMPCoincidenceConfig {
    std::string groups = "SPNGViewGroups";
    std::vector<std::string> input_groups;
    std::string target_group;
    std::vector<std::string> products = {"mp2", "mp3"};
    int wire_tolerance = 0;
    double target_threshold = 500;
    double aux_threshold = 1000;
    bool dead_is_hit = false;
    static constexpr auto fields() {
        using C = NoTileMPCoincidenceConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::input_groups, "input_groups", "", required(),
                  "groups at the input ports: all groups with views of the target's anodes"),
            field(&C::target_group, "target_group", "", required(),
                  "the group whose channels the products are for"),
            field(&C::products, "products", "", one_of("mp0", "mp1", "mp2", "mp3"),
                  "mp3: all planes; mp2: the two others only; mp1: the target only; mp0: neither"),
            field(&C::wire_tolerance, "wire_tolerance", "wires", between(0, 1),
                  "how far the crossing of the two others may be from the target wire"),
            field(&C::target_threshold, "target_threshold", "electrons", any(),
                  "inputs that are waveforms instead of masks: a target is hit from here on"),
            field(&C::aux_threshold, "aux_threshold", "electrons", any(),
                  "the same for the two other planes"),
            field(&C::dead_is_hit, "dead_is_hit", "", any(),
                  "dead channels of the two other planes count as hit at all times"));
    }
};

/// Inputs: for each group bool (view, channel, tick) regions, or waveforms to which the absolute thresholds
/// apply. Output: the products, each bool (view, channel, tick) of the target group.
class NoTileMPCoincidence : public NodeWith<NoTileMPCoincidenceConfig> {
public:
    std::vector<std::string> input_ports() const override { return config().input_groups; }

protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// Packed masks (row, word) of a tensor.
    at::Tensor packed(const NamedTensor& tensor, double threshold, bool dead_is_hit) const;

    /// Throws Error(Configuration) when a group with views of the target's anodes is no input.
    void require_groups_of_anodes(const ViewGroups& groups) const;

    std::size_t m_target = 0; ///< input port of the target group
    std::vector<std::int64_t> m_products;
    CoincidenceTable m_table;
    at::Tensor m_neighbours;
};

} // namespace spng
