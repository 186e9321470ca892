// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/region_growth.h"

#include "spng/kernels/launch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <vector>

namespace spng::kernels {

at::Tensor find_regions(const at::Tensor& levels, at::TensorList confirmed, std::int64_t ticks,
                        at::IntArrayRef seeds, at::IntArrayRef lone, at::IntArrayRef grow,
                        at::ArrayRef<double> fractions, std::int64_t always, std::int64_t beside, bool cyclic,
                        std::int64_t pad) {
    if (confirmed.size() > 2) {
        std::vector<at::Tensor> two{confirmed[0], confirmed[1]};
        for (const at::Tensor& mask : confirmed.slice(2)) {
            two[1] = two[1].bitwise_or(mask);
        }
        return find_regions(levels, two, ticks, seeds, lone, grow, fractions, always, beside, cyclic, pad);
    }
    if (constexpr std::size_t first = max_passes; seeds.size() > first) {
        const at::Tensor some =
            find_regions(levels, confirmed, ticks, seeds.slice(0, first), lone.slice(0, first),
                         grow.slice(0, first), fractions.slice(0, first), always, beside, cyclic, 0);
        const at::Tensor others =
            find_regions(levels, confirmed, ticks, seeds.slice(first), lone.slice(first), grow.slice(first),
                         fractions.slice(first), 0, -1, cyclic, 0);
        return find_regions(some.bitwise_or(others).unsqueeze(0), {}, ticks, {}, {}, {}, {}, 1, -1, cyclic,
                            pad);
    }
    const at::Tensor input = levels.contiguous();
    const auto shape = levels.sizes().slice(1);
    at::Tensor regions = at::empty(shape, levels.options());
    if (regions.numel() == 0) {
        return regions;
    }
    at::Tensor runs = at::empty(shape, levels.options());
    at::Tensor core = beside >= 0 ? at::empty(shape, levels.options()) : at::Tensor();
    std::array<at::Tensor, 2> masks;
    std::transform(confirmed.begin(), confirmed.end(), masks.begin(),
                   [](const at::Tensor& mask) { return mask.contiguous(); });
    const std::int64_t* sure = confirmed.empty() ? nullptr : masks[0].const_data_ptr<std::int64_t>();
    const std::int64_t* second = confirmed.size() < 2 ? nullptr : masks[1].const_data_ptr<std::int64_t>();
    List<std::int64_t, max_passes> seed_sets{}, lone_sets{}, grow_levels{};
    List<double, max_passes> shares{};
    std::copy(seeds.begin(), seeds.end(), seed_sets.at);
    std::copy(lone.begin(), lone.end(), lone_sets.at);
    std::copy(grow.begin(), grow.end(), grow_levels.at);
    std::copy(fractions.begin(), fractions.end(), shares.at);
    const std::int64_t rows = shape[0] * shape[1];
    const std::int64_t widened = std::min(pad, ticks); // longer padding has no further effect
    auto* out = regions.mutable_data_ptr<std::int64_t>();
    launch("grow_regions", levels.device(), blocks_for(rows, warps_of_block), 0,
           input.const_data_ptr<std::int64_t>(), sure, second, rows, ticks, seed_sets, lone_sets, grow_levels,
           shares, static_cast<int>(seeds.size()), always, widened, runs.mutable_data_ptr<std::int64_t>(),
           core.defined() ? core.mutable_data_ptr<std::int64_t>() : nullptr, out);
    if (core.defined()) {
        launch("join_neighbours", levels.device(), blocks_for(rows, warps_of_block), 0,
               input.const_data_ptr<std::int64_t>(), core.const_data_ptr<std::int64_t>(), sure, second, rows,
               shape[1], ticks, seeds[0], grow[0], beside, static_cast<int>(cyclic), widened,
               runs.mutable_data_ptr<std::int64_t>(), out);
    }
    return regions;
}

} // namespace spng::kernels
