// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operations on tick ranges of channels (ChannelRange) and on channel masks.

#include "spng/core/notes.h"
#include "spng/core/tensor_set.h"
#include "spng/detector/resample.h"

#include <cstdint>
#include <map>
#include <vector>

namespace spng {

/// Group ranges by channel, sort them, merge those that touch or overlap, and drop empty ones.
std::map<int, std::vector<ChannelRange>> merged_by_channel(std::vector<ChannelRange> ranges);

/// Clip masks to ticks [begin, end) and count ticks from `begin`. Ranges are sorted by channel and tick, and
/// touching ranges are merged, so the result does not depend on how the ranges were cut before. Masks that
/// become empty are dropped.
ChannelMasks masks_within(const ChannelMasks& masks, std::int64_t begin, std::int64_t end);

/// Convert masks to ticks of another sampling period: each range becomes the smallest one that covers its time.
ChannelMasks resampled(ChannelMasks masks, const PeriodRatio& ratio);

/// Write the notes "missing", "nan" and "outofrange" with the count of channels in the mask of this name, and the note
/// "saturated" with the counts of samples and channels. Channels that are saturated for the whole readout are dead at
/// a rail and not counted. Write no note for an empty mask.
/// @param ticks  length of the readout
void note_findings(Notes& notes, const ChannelMasks& masks, std::int64_t ticks);

/// Append `masks` to `all`, shifted by `offset` ticks.
void add_masks(ChannelMasks& all, const ChannelMasks& masks, std::int64_t offset);

} // namespace spng
