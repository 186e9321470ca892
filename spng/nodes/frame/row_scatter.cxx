// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/row_scatter.h"

#include "spng/core/tensor_checks.h"

#include <ATen/Dispatch_v2.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>

namespace spng {
namespace {

template <class In, class Out>
void fill_row(const In* in, std::int64_t samples, std::int64_t repeat, Out* out, std::int64_t ticks) {
    const std::int64_t used = std::min(ticks, samples * repeat);
    if (repeat == 1) {
        std::copy(in, in + used, out);
    } else {
        for (std::int64_t tick = 0, sample = 0; tick < used; ++sample) {
            const std::int64_t end = std::min(used, tick + repeat);
            for (; tick < end; ++tick) {
                out[tick] = static_cast<Out>(in[sample]);
            }
        }
    }
    std::fill(out + used, out + ticks, Out{0});
}

/// Source of one row of the result.
struct Origin {
    std::int64_t block = -1, row = 0;
};

template <class Out>
void fill(const std::vector<RowBlock>& blocks, const std::vector<Origin>& origins, at::Tensor& result,
          std::int64_t ticks) {
    auto* out = result.mutable_data_ptr<Out>();
    at::parallel_for(
        0, static_cast<std::int64_t>(origins.size()), 16, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                Out* row = out + i * ticks;
                if (origins[i].block < 0) {
                    std::fill(row, row + ticks, Out{0});
                    continue;
                }
                const RowBlock& block = blocks[origins[i].block];
                const std::int64_t view = origins[i].row / block.data.size(1);
                const std::int64_t channel = origins[i].row % block.data.size(1);
                const std::int64_t at = view * block.data.stride(0) + channel * block.data.stride(1);
                AT_DISPATCH_V2(block.data.scalar_type(), "scatter_rows", AT_WRAP([&] {
                                   fill_row(block.data.const_data_ptr<scalar_t>() + at, block.data.size(2),
                                            block.repeat, row, ticks);
                               }),
                               at::kBool, at::kFloat, at::kDouble);
            }
        });
}

} // namespace

std::int64_t position_in(const std::vector<int>& channels, int channel) {
    const auto found = std::lower_bound(channels.begin(), channels.end(), channel);
    require_argument(found != channels.end() && *found == channel, "scatter_rows", "channel", channel,
                     "a channel of the anode");
    return found - channels.begin();
}

at::Tensor scatter_rows(const std::vector<RowBlock>& blocks, const std::vector<int>& channels,
                        std::int64_t ticks) {
    std::vector<Origin> origins(channels.size());
    bool masks = true;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        const auto& [data, ids, repeat] = blocks[block];
        require_tensor(data.dim() == 3 && data.device().is_cpu() &&
                           (data.size(2) <= 1 || data.stride(2) == 1) &&
                           ids.numel() == data.size(0) * data.size(1) && ids.is_contiguous(),
                       "scatter_rows", "block", data,
                       "(view, channel, sample) on the host with contiguous rows, one id for each row");
        masks = masks && data.scalar_type() == at::kBool;
        const auto* id = ids.const_data_ptr<std::int32_t>();
        for (std::int64_t row = 0; row < ids.numel(); ++row) {
            origins[position_in(channels, id[row])] = {static_cast<std::int64_t>(block), row};
        }
    }
    at::Tensor result =
        at::empty({static_cast<std::int64_t>(channels.size()), ticks}, masks ? at::kShort : at::kFloat);
    if (masks) {
        fill<std::int16_t>(blocks, origins, result, ticks);
    } else {
        fill<float>(blocks, origins, result, ticks);
    }
    return result;
}

void scatter_values(const at::Tensor& values, const at::Tensor& ids, const std::vector<int>& channels,
                    at::Tensor& out) {
    const at::Tensor dense = values.contiguous();
    const auto* value = dense.const_data_ptr<double>();
    const auto* id = ids.const_data_ptr<std::int32_t>();
    auto* target = out.mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < ids.numel(); ++i) {
        target[position_in(channels, id[i])] = value[i];
    }
}

} // namespace spng
