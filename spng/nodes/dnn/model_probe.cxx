// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/model_probe.h"

#include "spng/core/error.h"
#include "spng/instrument/meter/allocation.h"
#include "spng/nodes/dnn/network_tiles.h"

#include <ATen/ops/arange.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace spng {

at::Tensor probe_features(at::IntArrayRef sizes, c10::Device device) {
    constexpr double golden_ratio = 0.6180339887498949;
    const auto count = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>{});
    return at::arange(count, at::kDouble).mul_(golden_ratio).frac_().view(sizes).to(device, at::kFloat);
}

std::int64_t measured_halo(const Model& model, const ModelLayout& layout, at::IntArrayRef sizes,
                           c10::Device device) {
    constexpr std::int64_t max_channels = 64;
    const std::int64_t ticks = rounded_up(sizes[3], layout.multiple);
    const at::Tensor before = probe_features({1, sizes[1], std::min(sizes[2], max_channels), ticks}, device);
    const std::int64_t block = rounded_down(ticks / 2, layout.multiple);
    const at::Tensor after = before.clone();
    after.narrow(3, block, layout.multiple).add_(16.0F); // large, so that weak dependences are visible

    const at::Tensor output = tiled_forward(model, before, layout, 0);
    const auto largest_change = [&](const at::Tensor& features) {
        return tiled_forward(model, features, layout, 0).sub_(output).abs_().amax({0, 1});
    };
    const at::Tensor noise = largest_change(before).max();
    const at::Tensor reached = largest_change(after).gt(noise).nonzero().to(at::kCPU);
    if (reached.numel() == 0) {
        return 0;
    }
    const std::int64_t first = reached[0].item<std::int64_t>();
    const std::int64_t last = reached[reached.size(0) - 1].item<std::int64_t>();
    if (first == 0 || last == ticks - 1) {
        throw Error(ErrorKind::Model,
                    {.what = "cannot cut the network along ticks: every output depends on the whole input",
                     .where = model.file(),
                     .seen = "a change of samples " + std::to_string(block) + " to " +
                             std::to_string(block + layout.multiple - 1) + " reaches outputs " +
                             std::to_string(first) + " to " + std::to_string(last),
                     .expected = "a halo shorter than half of " + std::to_string(ticks) + " samples",
                     .hint = "set chunk_ticks and memory_budget to 0, or set halo to a sufficient length"});
    }
    return std::max({block - first, last - (block + layout.multiple - 1), std::int64_t{0}});
}

std::int64_t measured_bytes_per_tick(const Model& model, const ModelLayout& layout, at::IntArrayRef sizes,
                                     c10::Device device) {
    constexpr std::int64_t probe_ticks = 64;
    const std::int64_t ticks =
        std::min(rounded_up(probe_ticks, layout.multiple), rounded_up(sizes[3], layout.multiple));
    const at::Tensor features = probe_features({sizes[0], sizes[1], sizes[2], ticks}, device);
    tiled_forward(model, features, layout, 0); // the first call also creates objects that later calls reuse
    const instrument::AllocationScope scope(instrument::AllocationScope::Reports::all);
    tiled_forward(model, features, layout, 0);
    return (device.is_cpu() ? scope.cpu().peak : scope.device().peak) / ticks;
}

} // namespace spng
