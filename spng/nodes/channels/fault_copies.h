// SPDX-License-Identifier: Apache-2.0
#pragma once
// Faults and bad ticks of channels (ChannelTable::fault, bad_ticks) on their way to the masks of a frame.

#include "spng/core/tensor_set.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace spng {

/// Faults of the channels of a group, or their bad ticks that one step has found.
struct FaultCopy {
    at::Tensor ids; ///< (view, channel) int32 on the host
    at::Tensor
        fault; ///< (view, channel) uint8 ChannelFault on the host; may still arrive; undefined: bad ticks
    BadTickRanges bad_ticks; ///< on the host; may still arrive; without ticks: faults
};

/// Queue the copies of the faults and the bad ticks in the channel tables of the sets, each once.
std::vector<FaultCopy> copied_faults(const std::vector<TensorSetPtr>& sets);

/// Return the event with the faults and the bad ticks of a frame's channels in its masks: faults by add_faults(); bad
/// ticks in "bad" and in their own mask, in ticks of the event. All copies must have arrived.
/// @param channels  of the frame, ascending
std::shared_ptr<const EventInfo> with_faults(const std::shared_ptr<const EventInfo>& event,
                                             const std::vector<FaultCopy>& faults,
                                             const std::vector<int>& channels);

} // namespace spng
