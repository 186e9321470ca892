// SPDX-License-Identifier: Apache-2.0
#pragma once
// scatter_rows (row_scatter.h) on a device: one tensor per tag is copied back, with rows in the order of the
// frame.

#include "spng/nodes/frame/row_scatter.h"

#include <c10/core/Device.h>

#include <map>
#include <mutex>
#include <tuple>

namespace spng {

/// Index tensors on devices that map the channels of a table to rows of a frame. They are created at first
/// use and kept, because uploading pageable memory blocks the host. Thread-safe.
class RowPositions {
public:
    /// @param channels  ascending channel ids of the frame
    explicit RowPositions(std::vector<int> channels) : m_channels(std::move(channels)) {}

    const std::vector<int>& channels() const { return m_channels; }

    /// @param ids  (view, channel) int32 on the host, contiguous; must not change while this object lives
    /// @return (view * channel) int64 on `device`
    /// @throws Error(Internal) if the frame does not have a channel
    at::Tensor of(const at::Tensor& ids, c10::Device device) const;

private:
    struct Kept {
        /// Keeps the memory alive whose address is the key.
        at::Tensor ids;
        at::Tensor positions;
    };
    std::vector<int> m_channels;
    mutable std::mutex m_mutex;
    mutable std::map<std::tuple<const void*, std::int64_t, c10::DeviceIndex>, Kept> m_kept;
};

/// Do the same as scatter_rows on a device, without blocking the host.
/// @param blocks  at least one, all on one device
/// @param type    type of the result; the samples of the blocks are converted
/// @return (channel, ticks) on that device
at::Tensor scatter_rows_on_device(const std::vector<RowBlock>& blocks, const RowPositions& positions,
                                  std::int64_t ticks, at::ScalarType type);

} // namespace spng
