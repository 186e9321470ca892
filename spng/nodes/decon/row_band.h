// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of a view group that a readout with few channels needs (docs/decisions/few-channels.md).

#include "spng/core/tensor_set.h"

#include <cstdint>
#include <memory>

namespace spng {

/// Adjacent rows of all views of a group.
struct RowBand {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// Return the rows from the first to the last one that is good or has a fault or bad ticks, in any view, with `margin`
/// rows on both sides. Return all rows if the band has more than half of them, and 2 margin + 1 rows if there is no such
/// row. Reads the masks, so they are on the host.
RowBand row_band(const ChannelTable& channels, std::int64_t margin);

/// Return the channels of a band.
std::shared_ptr<const ChannelTable> channels_of_band(const ChannelTable& channels, const RowBand& band);

} // namespace spng
