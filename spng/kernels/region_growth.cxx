// SPDX-License-Identifier: Apache-2.0
#include "spng/core/bit_words.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/operators.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace spng::kernels {

at::Tensor grow_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t ticks,
                        std::int64_t pad_before, std::int64_t pad_after) {
    at::Tensor regions = at::empty(seeds.sizes(), seeds.options());
    if (regions.numel() > 0) {
        const at::Tensor seed = seeds.contiguous();
        const at::Tensor open = level.contiguous();
        const std::int64_t rows = seeds.numel() / words_for(ticks);
        // Padding longer than the row has no further effect, and must not overflow.
        launch("grow_regions", seeds.device(), blocks_for(rows, warps_of_block), 0,
               seed.const_data_ptr<std::int64_t>(), open.const_data_ptr<std::int64_t>(), rows, ticks,
               std::min(pad_before, ticks), std::min(pad_after, ticks),
               regions.mutable_data_ptr<std::int64_t>());
    }
    return regions;
}

at::Tensor confirmed_runs(const at::Tensor& runs, const at::Tensor& confirmed, const at::Tensor& lone,
                          std::int64_t ticks, double fraction) {
    at::Tensor kept = at::empty(runs.sizes(), runs.options());
    if (kept.numel() > 0) {
        const at::Tensor run = runs.contiguous();
        const at::Tensor sure = confirmed.contiguous();
        const at::Tensor alone = lone.contiguous();
        const std::int64_t rows = runs.numel() / words_for(ticks);
        launch("confirmed_runs", runs.device(), blocks_for(rows, warps_of_block), 0,
               run.const_data_ptr<std::int64_t>(), sure.const_data_ptr<std::int64_t>(),
               alone.const_data_ptr<std::int64_t>(), rows, ticks, fraction,
               kept.mutable_data_ptr<std::int64_t>());
    }
    return kept;
}

} // namespace spng::kernels
