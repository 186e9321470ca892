// SPDX-License-Identifier: Apache-2.0
#include "spng/io/mask_ticks.h"

namespace spng {

ChannelMasks shifted(ChannelMasks masks, std::int64_t ticks) {
    for (auto& [name, ranges] : masks) {
        for (ChannelRange& range : ranges) {
            range.begin += ticks;
            range.end += ticks;
        }
    }
    return masks;
}

} // namespace spng
