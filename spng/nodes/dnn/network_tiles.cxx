// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/network_tiles.h"

#include "spng/core/tensor_checks.h"

#include <algorithm>
#include <string>

namespace spng {

std::vector<NetworkTile> network_tiles(std::int64_t ticks, std::int64_t chunk, std::int64_t halo,
                                       std::int64_t multiple) {
    if (chunk == 0 || chunk >= ticks) {
        return {{0, ticks, 0, ticks}};
    }
    const std::int64_t step = rounded_down(chunk, multiple);
    require_argument(step > 0, "network_tiles", "chunk", chunk, "at least " + std::to_string(multiple));
    const std::int64_t margin = rounded_up(halo, multiple);
    std::vector<NetworkTile> tiles;
    for (std::int64_t begin = 0; begin < ticks; begin += step) {
        const std::int64_t end = std::min(begin + step, ticks);
        tiles.push_back(
            {begin, end, std::max<std::int64_t>(begin - margin, 0), std::min(end + margin, ticks)});
    }
    return tiles;
}

} // namespace spng
