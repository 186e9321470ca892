// SPDX-License-Identifier: Apache-2.0
#pragma once
// scatter_rows (row_scatter.h) on a device: one tensor per tag is copied back, with rows in the order of the
// frame.

#include "spng/nodes/frame/row_scatter.h"

#include <c10/core/Device.h>

#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

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

    /// Return the rows of the frame by their origin in several tensors, for gather_words (frame_rows.h).
    /// @param ids  of the rows of each tensor, as above. More than max_row_sources are counted as one, in which
    ///             their rows follow each other
    /// @return (row of the frame, 2) int32 on `device`: tensor and row in it; -1 for channels of no tensor
    /// @throws Error(Internal) if the frame does not have a channel
    at::Tensor origins(const std::vector<at::Tensor>& ids, c10::Device device) const;

private:
    struct Kept {
        /// Keeps the memory alive whose address is the key.
        at::Tensor ids;
        at::Tensor positions;
    };
    struct KeptOrigins {
        std::vector<at::Tensor> ids;
        at::Tensor origins;
    };
    using OriginsKey = std::pair<std::vector<std::pair<const void*, std::int64_t>>, c10::DeviceIndex>;
    std::vector<int> m_channels;
    mutable std::mutex m_mutex;
    mutable std::map<std::tuple<const void*, std::int64_t, c10::DeviceIndex>, Kept> m_kept;
    mutable std::map<OriginsKey, KeptOrigins> m_origins;
};

/// Do the same as scatter_rows on a device, without blocking the host.
/// @param blocks  at least one, all on one device
/// @param type    type of the result; the samples of the blocks are converted
/// @return (channel, ticks) on that device
at::Tensor scatter_rows_on_device(const std::vector<RowBlock>& blocks, const RowPositions& positions,
                                  std::int64_t ticks, at::ScalarType type);

} // namespace spng
