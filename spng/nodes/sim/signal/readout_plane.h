#pragma once
// All wires of one plane of an anode, those of its faces one behind the other, and the channels that read
// them.

#include "spng/detector/wires.h"

#include <cstdint>
#include <vector>

namespace spng {

/// Where the response plane of a face lies.
struct FacePlace {
    int face = 0;
    double x = 0; ///< mm, drift coordinate of the response plane
};

/// Wires of several faces on one axis. Between two faces lie `gap` places without a wire, so that no
/// response reaches from one face to another.
struct ReadoutPlane {
    struct Block {
        int face = 0;
        const WirePlane* wires = nullptr;
        std::int64_t first = 0; ///< place of its wire 0
    };
    int plane = 0;
    std::vector<Block> blocks;
    std::vector<std::int32_t> row;  ///< of each place: row of its channel, -1 in a gap
    std::vector<std::int32_t> rows; ///< the rows that have wires in this plane, ascending
    /// (rows + 1): wires of rows[i] are wires[first_wire[i]] to wires[first_wire[i + 1] - 1]
    std::vector<std::int32_t> first_wire;
    std::vector<std::int32_t> wires; ///< places, by row
    std::vector<double> length;      ///< mm, by row: sum over its wires

    std::int64_t places() const { return static_cast<std::int64_t>(row.size()); }
    /// By place: whether there is a wire.
    std::vector<char> exists() const;
};

/// @param channels  ascending channel numbers; a row is a position in this list
/// Throws Error(Configuration) for a face or plane that does not exist.
ReadoutPlane make_readout_plane(const WireAnode& anode, const std::vector<int>& faces, int plane,
                                const std::vector<int>& channels, std::int64_t gap);

} // namespace spng
