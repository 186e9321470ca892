// SPDX-License-Identifier: Apache-2.0
#pragma once
// Faults of channels (ChannelTable::fault) on their way to the masks of a frame.

#include "spng/core/tensor_set.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace spng {

/// Faults of the channels of a group.
struct FaultCopy {
    at::Tensor ids;   ///< (view, channel) int32 on the host
    at::Tensor fault; ///< (view, channel) uint8 ChannelFault on the host; may still arrive
};

/// Queue the copies of the faults in the channel tables of the sets, each once.
std::vector<FaultCopy> copied_faults(const std::vector<TensorSetPtr>& sets);

/// Return the event with the faults of a frame's channels in its masks (add_faults). All copies must have arrived.
/// @param channels  of the frame, ascending
std::shared_ptr<const EventInfo> with_faults(const std::shared_ptr<const EventInfo>& event,
                                             const std::vector<FaultCopy>& faults,
                                             const std::vector<int>& channels);

} // namespace spng
