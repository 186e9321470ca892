// SPDX-License-Identifier: Apache-2.0
// remove_coherent_noise() composed of ATen operations, for devices without a kernel of their own.

#include "spng/core/row_chunks.h"
#include "spng/nodes/noise/coherent_noise.h"
#include "spng/nodes/noise/robust_spread.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/cummin.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/nanmedian.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>

namespace spng {
namespace {

constexpr std::int64_t sampling = 4; // as in coherent_noise.cxx

at::Tensor spread(const at::Tensor& values) {
    return robust_spread(values.slice(-1, 0, std::nullopt, sampling));
}

at::Tensor is_signal(const at::Tensor& values, double threshold, std::int64_t half) {
    auto found = values.abs() > spread(values) * threshold;
    if (half > 0) {
        const auto smoothed = at::avg_pool1d(values, {2 * half + 1}, {1}, {half}, /*ceil_mode=*/false,
                                             /*count_include_pad=*/false);
        found = found | (smoothed.abs() > spread(smoothed) * threshold);
    }
    return found;
}

/// Fill the ticks without an estimate by straight lines, (group, 1, tick).
at::Tensor bridged(const at::Tensor& mean, const at::Tensor& estimated) {
    const std::int64_t ticks = mean.size(-1);
    const auto tick = at::arange(ticks, mean.options().dtype(at::kLong)).expand_as(mean);
    const auto before = std::get<0>(at::cummax(at::where(estimated, tick, -1), -1));
    const auto after = std::get<0>(at::cummin(at::where(estimated, tick, ticks).flip(-1), -1)).flip(-1);
    const auto left = before.clamp_min(0);
    const auto right = after.clamp_max(ticks - 1);
    const auto from = at::where(before < 0, at::gather(mean, -1, right), at::gather(mean, -1, left));
    const auto to = at::where(after >= ticks, from, at::gather(mean, -1, right));
    const auto share = (tick - before).to(mean.scalar_type()) / (after - before).clamp_min(1);
    return at::where((before < 0) & (after >= ticks), 0,
                     at::where(estimated, mean, from + share * (to - from)));
}

/// @param samples  (group, channel, tick)
/// @param alive    (group, channel, 1)
at::Tensor cleaned_groups(const at::Tensor& samples, const at::Tensor& alive, double threshold,
                          double common_threshold, std::int64_t half_smoothing, std::int64_t padding,
                          double min_fraction) {
    const auto deviation = at::where(alive, samples - std::get<0>(samples.median(-1, /*keepdim=*/true)), 0);

    const double none = std::numeric_limits<double>::quiet_NaN();
    const auto common =
        std::get<0>(at::nanmedian(at::where(alive, deviation, none), 1, /*keepdim=*/true)).nan_to_num(0);
    const auto signal = is_signal(deviation - common, threshold, half_smoothing) |
                        is_signal(common, common_threshold, half_smoothing);
    const auto widened = at::max_pool1d(signal.to(at::kFloat), {2 * padding + 1}, {1}, {padding}) > 0;
    const auto trusted = alive & widened.logical_not();

    const auto count = trusted.sum(1, /*keepdim=*/true);
    const auto sum = at::where(trusted, deviation, 0).sum(1, /*keepdim=*/true);
    const auto min_count = (alive.sum(1, /*keepdim=*/true) * min_fraction).clamp_min(2);
    const auto estimated = count >= min_count;
    const auto mean = bridged(at::where(estimated, sum / count.clamp_min(1), 0), estimated);
    const auto others = (sum - deviation) / (count - 1).clamp_min(1);
    const auto noise = at::where(estimated & trusted, others, mean);
    return at::where(alive, samples - noise, samples);
}

at::Tensor remove_coherent_noise_composite(const at::Tensor& waveforms, const at::Tensor& good,
                                           const at::Tensor& groups, double threshold,
                                           double common_threshold, std::int64_t half_smoothing,
                                           std::int64_t padding, double min_fraction) {
    const auto type = waveforms.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    auto result = at::empty(waveforms.sizes(), waveforms.options().dtype(type));
    if (waveforms.numel() == 0) {
        return result;
    }
    const std::int64_t ticks = waveforms.size(-1);
    const auto rows = as_rows(waveforms);
    const auto flags = good.flatten();
    const auto result_rows = as_rows(result);
    // This composition is used on every device, so its chunks are few: the limit is that of the memory plan
    // (coherent_noise_filter.cxx).
    const std::int64_t limit =
        std::max(composition_bytes, coherent_noise_buffers * static_cast<std::int64_t>(result.nbytes()));
    // Of each channel ten waveforms, and masks.
    const std::int64_t bytes_of_group = groups.size(1) * ticks * (10 * result.element_size() + 8);
    for_row_chunks(
        groups.size(0), bytes_of_group,
        [&](std::int64_t first, std::int64_t count) {
            const auto channels = groups.narrow(0, first, count).flatten();
            const auto samples = rows.index_select(0, channels).view({count, -1, ticks}).to(type);
            const auto alive = flags.index_select(0, channels).view({count, -1, 1});
            result_rows.index_copy_(0, channels,
                                    cleaned_groups(samples, alive, threshold, common_threshold,
                                                   half_smoothing, padding, min_fraction)
                                        .flatten(0, 1));
        },
        limit);
    return result;
}

} // namespace

TORCH_LIBRARY_IMPL(spng, CompositeExplicitAutograd, library) {
    library.impl("remove_coherent_noise", remove_coherent_noise_composite);
}

} // namespace spng
