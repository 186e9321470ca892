// SPDX-License-Identifier: Apache-2.0
#pragma once
// Network tiles: cut the tick axis so that the memory of a network is limited and the result does not change.

#include <cstdint>
#include <vector>

namespace spng {

/// Output samples [begin, end), computed from input samples [input_begin, input_end).
struct NetworkTile {
    std::int64_t begin, end;
    std::int64_t input_begin, input_end;
    bool operator==(const NetworkTile&) const = default;
};

/// Return tiles that cover [0, ticks) once. Each tile reads up to `halo` additional samples on both sides.
/// The chunk is rounded down and the halo up to the multiple, so that the pooling grid of the network is the
/// same in every tile.
/// @param ticks     number of samples, a multiple of `multiple`
/// @param chunk     output samples per tile; 0 or at least `ticks`: one tile
/// @param halo      samples on which an output depends, to each side
/// @param multiple  samples of the pooling grid
/// @throws Error(Internal) if the chunk is smaller than `multiple`
std::vector<NetworkTile> network_tiles(std::int64_t ticks, std::int64_t chunk, std::int64_t halo,
                                       std::int64_t multiple);

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}
constexpr std::int64_t rounded_down(std::int64_t value, std::int64_t multiple) {
    return value / multiple * multiple;
}

} // namespace spng
