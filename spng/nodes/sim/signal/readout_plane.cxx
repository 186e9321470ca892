// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/readout_plane.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace spng {

std::vector<char> ReadoutPlane::exists() const {
    std::vector<char> result(row.size());
    std::transform(row.begin(), row.end(), result.begin(),
                   [](std::int32_t channel_row) { return channel_row >= 0; });
    return result;
}

ReadoutPlane make_readout_plane(const WireAnode& anode, const std::vector<int>& faces, int plane,
                                const std::vector<int>& channels, std::int64_t gap) {
    ReadoutPlane result;
    result.plane = plane;
    std::map<std::int32_t, std::vector<std::int32_t>> wires_of_row;
    std::map<std::int32_t, double> length_of_row;
    for (const int face : faces) {
        const WirePlane& wires = anode.face(face).plane(plane);
        if (!result.blocks.empty()) {
            result.row.insert(result.row.end(), static_cast<std::size_t>(gap), -1);
        }
        result.blocks.push_back({face, &wires, result.slots()});
        for (const Wire& wire : wires.wires) {
            const auto row = static_cast<std::int32_t>(
                std::lower_bound(channels.begin(), channels.end(), wire.channel) - channels.begin());
            wires_of_row[row].push_back(static_cast<std::int32_t>(result.slots()));
            length_of_row[row] += std::hypot(wire.head.y - wire.tail.y, wire.head.z - wire.tail.z);
            result.row.push_back(row);
        }
    }
    result.first_wire.push_back(0);
    for (const auto& [row, wires] : wires_of_row) {
        result.rows.push_back(row);
        result.wires.insert(result.wires.end(), wires.begin(), wires.end());
        result.first_wire.push_back(static_cast<std::int32_t>(result.wires.size()));
        result.length.push_back(length_of_row[row]);
    }
    return result;
}

} // namespace spng
