#pragma once
// Marked ticks of channels (ChannelRange), as frames, windows of long readouts and cleaning need them.

#include "spng/core/tensor_set.h"

#include <cstdint>
#include <map>
#include <vector>

namespace spng {

/// Ranges of each channel, sorted and merged where they touch or overlap; empty ones are left out.
std::map<int, std::vector<ChannelRange>> merged_by_channel(std::vector<ChannelRange> ranges);

/// What of the masks lies in ticks [begin, end), counted from `begin`: sorted by channel and tick, merged
/// where ranges touch, so that the result does not depend on how the ranges were cut before. Masks of which
/// nothing is left are left out.
ChannelMasks masks_within(const ChannelMasks& masks, std::int64_t begin, std::int64_t end);

/// Add `masks`, counted from tick `offset`, to `all`.
void add_masks(ChannelMasks& all, const ChannelMasks& masks, std::int64_t offset);

} // namespace spng
