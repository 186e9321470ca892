// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/device_row_scatter.h"

#include "spng/core/tensor_checks.h"
#include "spng/nodes/frame/frame_rows.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace spng {
namespace {

void require_ids(const at::Tensor& ids) {
    require_tensor(ids.defined() && ids.is_cpu() && ids.scalar_type() == at::kInt && ids.is_contiguous(),
                   "RowPositions", "ids", ids, "contiguous int32 (view, channel) on the host");
}

} // namespace

at::Tensor RowPositions::of(const at::Tensor& ids, c10::Device device) const {
    require_ids(ids);
    const std::lock_guard lock(m_mutex);
    const auto* id = ids.const_data_ptr<std::int32_t>();
    Kept& kept = m_kept[{id, ids.numel(), device.index()}];
    if (!kept.ids.defined()) {
        at::Tensor positions = at::empty({ids.numel()}, at::kLong);
        auto* position = positions.mutable_data_ptr<std::int64_t>();
        for (std::int64_t i = 0; i < ids.numel(); ++i) {
            position[i] = position_in(m_channels, id[i]);
        }
        kept.positions = positions.to(device);
        kept.ids = ids;
    }
    return kept.positions;
}

at::Tensor RowPositions::origins(const std::vector<at::Tensor>& ids, c10::Device device) const {
    OriginsKey key{{}, device.index()};
    for (const at::Tensor& each : ids) {
        require_ids(each);
        key.first.emplace_back(each.const_data_ptr(), each.numel());
    }
    const std::lock_guard lock(m_mutex);
    KeptOrigins& kept = m_origins[key];
    if (!kept.origins.defined()) {
        const bool is_joined = ids.size() > max_row_sources;
        at::Tensor table = at::full({static_cast<std::int64_t>(m_channels.size()), 2}, -1, at::kInt);
        auto* origin = table.mutable_data_ptr<std::int32_t>();
        std::int32_t first_row = 0;
        for (std::size_t source = 0; source < ids.size(); ++source) {
            const auto* id = ids[source].const_data_ptr<std::int32_t>();
            const auto rows = static_cast<std::int32_t>(ids[source].numel());
            for (std::int32_t row = 0; row < rows; ++row) {
                const std::int64_t position = position_in(m_channels, id[row]);
                origin[2 * position] = is_joined ? 0 : static_cast<std::int32_t>(source);
                origin[2 * position + 1] = first_row + row;
            }
            first_row += is_joined ? rows : 0;
        }
        kept.origins = table.to(device);
        kept.ids = ids;
    }
    return kept.origins;
}

at::Tensor scatter_rows_on_device(const std::vector<RowBlock>& blocks, const RowPositions& positions,
                                  std::int64_t ticks, at::ScalarType type) {
    require_argument(!blocks.empty(), "scatter_rows_on_device", "blocks", 0, "at least one");
    at::Tensor result = at::zeros({static_cast<std::int64_t>(positions.channels().size()), ticks},
                                  blocks.front().data.options().dtype(type));
    for (const auto& [data, ids, repeat] : blocks) {
        require_tensor(data.dim() == 3 && ids.numel() == data.size(0) * data.size(1),
                       "scatter_rows_on_device", "block", data,
                       "(view, channel, sample), one id for each row");
        at::Tensor rows = data.flatten(0, 1);
        if (repeat > 1) {
            rows = rows.unsqueeze(-1).expand({-1, -1, repeat}).flatten(1);
        }
        const std::int64_t used = std::min(ticks, rows.size(1));
        result.narrow(1, 0, used)
            .index_copy_(0, positions.of(ids, data.device()), rows.narrow(1, 0, used).to(type));
    }
    return result;
}

} // namespace spng
