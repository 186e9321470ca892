// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGNoTileMPCoincidence: multi-plane coincidence of the planes of an anode, for the channels of one view
// group. The group may hold views of several anodes; each channel is compared with the planes of its own
// anode.

#include "spng/device/memory/tensors_by_length.h"
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
                  "names of the groups at the input ports: all groups with views of the target's anodes"),
            field(&C::target_group, "target_group", "", required(),
                  "name of the group whose channels the products are for"),
            field(&C::products, "products", "", one_of("mp0", "mp1", "mp2", "mp3"),
                  "mp3: all planes; mp2: the two others only; mp1: the target only; mp0: none"),
            field(&C::wire_tolerance, "wire_tolerance", "wires", between(0, 1),
                  "maximum distance of the target wire from the crossing of the two others"),
            field(&C::target_threshold, "target_threshold", "electrons", any(),
                  "for waveforms as input: the target is hit at or above this"),
            field(&C::aux_threshold, "aux_threshold", "electrons", any(),
                  "for waveforms as input: the two other planes are hit at or above this"),
            field(&C::dead_is_hit, "dead_is_hit", "", any(),
                  "dead channels of the two other planes count as hit at all times"));
    }
};

/// In: for each group ROIs, a mask (view, channel, tick) packed or not, or waveforms to which the thresholds
/// apply. Out: products, each a packed mask (view, channel, tick) of the target group.
class NoTileMPCoincidence : public NodeWith<NoTileMPCoincidenceConfig> {
public:
    std::vector<std::string> input_ports() const override { return config().input_groups; }

protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// Return the packed masks (row, word) of all rows of the group at an input port; rows that the tensor lacks are dead.
    at::Tensor packed(const Ports& inputs, std::size_t port, double threshold, bool dead_is_hit);

    /// @throws Error(Configuration) if a group with views of the target's anodes is not an input
    void require_groups_of_anodes(const ViewGroups& groups) const;

    std::size_t m_target = 0;         ///< input port of the target group
    std::vector<std::int64_t> m_rows; ///< of a view, by input port
    std::vector<std::int64_t> m_products;
    CoincidenceTable m_table;
    at::Tensor m_neighbours;
    TensorsByLength m_full_rows; ///< packed rows with all samples set
};

} // namespace spng
