#pragma once
// scatter_rows (row_scatter.h) on a device, so that one tensor per tag is copied back, in the order of the
// frame.

#include "spng/nodes/frame/row_scatter.h"

#include <c10/core/Device.h>

#include <map>
#include <mutex>
#include <tuple>

namespace spng {

/// Which row of a frame each channel of a table is, as index tensors on devices. They are made when they are
/// asked for first and kept, since an upload of ordinary memory makes the host wait. Thread-safe.
class RowPositions {
public:
    /// @param channels  ascending channel numbers of the frame
    explicit RowPositions(std::vector<int> channels) : m_channels(std::move(channels)) {}

    const std::vector<int>& channels() const { return m_channels; }

    /// @param ids  (view, channel) int32 on the host, contiguous; never changed as long as this lives
    /// @return int64 (view * channel) on `device`
    /// Throws Error(Internal) for a channel that the frame does not have.
    at::Tensor of(const at::Tensor& ids, c10::Device device) const;

private:
    struct Kept {
        at::Tensor ids; ///< keeps its memory, whose address is the key
        at::Tensor positions;
    };
    std::vector<int> m_channels;
    mutable std::mutex m_mutex;
    mutable std::map<std::tuple<const void*, std::int64_t, c10::DeviceIndex>, Kept> m_kept;
};

/// As scatter_rows.
/// @param blocks  all on one device; not empty
/// @param type    of the result; what a block holds is converted
/// @return (channel, ticks) on that device; waits for nothing
at::Tensor scatter_rows_on_device(const std::vector<RowBlock>& blocks, const RowPositions& positions,
                                  std::int64_t ticks, at::ScalarType type);

} // namespace spng
