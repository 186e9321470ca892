// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wires of one plane of an anode on one axis, face after face, and the channels that read them.

#include "spng/detector/wires.h"

#include <cstdint>
#include <vector>

namespace spng {

/// Wires of several faces on one axis. A slot is a position on this axis. Between two faces there are `gap`
/// slots without a wire, so that no response reaches from one face to another.
struct ReadoutPlane {
    struct Block {
        int face = 0;
        const WirePlane* wires = nullptr;
        std::int64_t first = 0; ///< slot of wire 0
    };
    int plane = 0;
    std::vector<Block> blocks;
    std::vector<std::int32_t> row;  ///< by slot: row of its channel; -1 in a gap
    std::vector<std::int32_t> rows; ///< rows with wires in this plane, ascending
    /// (rows + 1): the wires of rows[i] are wires[first_wire[i]] to wires[first_wire[i + 1] - 1]
    std::vector<std::int32_t> first_wire;
    std::vector<std::int32_t> wires; ///< slots of the wires, by row
    std::vector<double> length;      ///< total wire length, by row [mm]

    std::int64_t slots() const { return static_cast<std::int64_t>(row.size()); }
    /// By slot: 1 if there is a wire, otherwise 0.
    std::vector<char> exists() const;
};

/// Put the wires of one plane of several faces on one axis.
/// @param channels  ascending channel ids; a row is an index in this list
/// @throws Error(Configuration) for a face or plane that does not exist
ReadoutPlane make_readout_plane(const WireAnode& anode, const std::vector<int>& faces, int plane,
                                const std::vector<int>& channels, std::int64_t gap);

} // namespace spng
