// SPDX-License-Identifier: Apache-2.0
// remove_coherent_noise() composed of ATen operations, its body on devices.

#include "spng/core/row_chunks.h"
#include "spng/nodes/noise/coherent_noise.h"
#include "spng/nodes/noise/robust_spread.h"
#include "spng/nodes/noise/tick_ranges.h"

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

#include <algorithm>
#include <cmath>
#include <limits>

namespace spng {
namespace {

constexpr std::int64_t sampling = 4; // this and the others as in coherent_noise.cxx
constexpr double half_count = 0.5;
constexpr double odd_share = 0.2;

/// @param bad  bool, ticks that do not count; undefined: all count
at::Tensor spread(const at::Tensor& values, const at::Tensor& bad = {}) {
    const auto sampled = [](const at::Tensor& all) { return all.slice(-1, 0, std::nullopt, sampling); };
    return bad.defined() ? robust_spread(sampled(values), sampled(bad)) : robust_spread(sampled(values));
}

at::Tensor smooth(const at::Tensor& values, std::int64_t half) {
    return at::avg_pool1d(values, {2 * half + 1}, {1}, {half}, /*ceil_mode=*/false,
                          /*count_include_pad=*/false);
}

/// Return where the values, with this noise, or their running means exceed the noise.
at::Tensor is_signal(const at::Tensor& values, const at::Tensor& noise, double threshold, std::int64_t half,
                     const at::Tensor& bad = {}) {
    auto found = values.abs() > noise * threshold;
    if (half > 0) {
        const auto smoothed = smooth(values, half);
        found = found | (smoothed.abs() > spread(smoothed, bad) * threshold);
    }
    return bad.defined() ? found | bad : found;
}

/// Return where a group's median shows signals on all channels, (group, 1, tick).
at::Tensor is_common_signal(const at::Tensor& common, const at::Tensor& noise,
                            const CoherentNoiseRule& rule) {
    auto found = is_signal(common, noise.clamp_min(half_count), rule.common_threshold, rule.half_smoothing);
    if (rule.half_smoothing > 0) {
        const auto fast = common - smooth(common, 2 * rule.half_smoothing);
        found = found | (fast.abs() > spread(fast).clamp_min(half_count) * rule.common_threshold);
    }
    return found;
}

/// Return the lower median over the chosen channels, (group, 1, tick); NaN if there are none.
at::Tensor median_of(const at::Tensor& values, const at::Tensor& chosen) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return std::get<0>(at::nanmedian(at::where(chosen, values, none), 1, /*keepdim=*/true));
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
/// @param bad      (group, channel, tick), or undefined
at::Tensor cleaned_groups(const at::Tensor& samples, const at::Tensor& alive, const at::Tensor& bad,
                          const CoherentNoiseRule& rule) {
    const auto deviation = at::where(alive, samples - std::get<0>(samples.median(-1, /*keepdim=*/true)), 0);
    const auto raw = spread(deviation, bad);
    const auto changes = alive & (raw > 0);
    const auto quiet = changes & (raw <= median_of(raw, changes) * rule.max_noise);
    const auto common = median_of(deviation, quiet).nan_to_num(0);

    const auto common_noise = spread(common);
    const auto difference = deviation - common;
    const auto rest = spread(difference, bad);
    const auto signal = is_signal(difference, rest, rule.threshold, rule.half_smoothing, bad) |
                        is_common_signal(common, common_noise, rule);
    const auto widened =
        at::max_pool1d(signal.to(at::kFloat), {2 * rule.padding + 1}, {1}, {rule.padding}) > 0;

    const auto wave = at::where(widened, 0, common);
    const auto square = wave.square().sum(-1, /*keepdim=*/true);
    const auto fitted =
        at::where(square > 0, (deviation * wave).sum(-1, /*keepdim=*/true) / square.clamp_min(1e-30), 1);
    const auto is_odd = (1 - fitted).abs() * common_noise > rest * std::sqrt(odd_share);
    const auto coupling = at::where(raw > 0, at::where(is_odd, fitted.clamp(0, 2), 1), 0);
    const auto max_rest = median_of(rest, quiet & (rest > 0)).nan_to_num(0) * rule.max_noise;
    const auto in_mean = quiet & is_odd.logical_not() & (rest <= max_rest);

    const auto trusted = in_mean & widened.logical_not();
    const auto count = trusted.sum(1, /*keepdim=*/true);
    const auto sum = at::where(trusted, deviation, 0).sum(1, /*keepdim=*/true);
    const auto min_count = (in_mean.sum(1, /*keepdim=*/true) * rule.min_fraction).clamp_min(2);
    const auto estimated = count >= min_count;
    const auto mean = bridged(at::where(estimated, sum / count.clamp_min(1), 0), estimated);
    const auto others = (sum - deviation) / (count - 1).clamp_min(1);
    const auto noise = at::where(estimated & trusted, others, mean * coupling);
    return at::where(alive, samples - noise, samples);
}

} // namespace

at::Tensor remove_coherent_noise_composite(const at::Tensor& waveforms, const at::Tensor& good,
                                           const at::Tensor& groups, const at::Tensor& bad_ticks,
                                           double threshold, double common_threshold,
                                           std::int64_t half_smoothing, std::int64_t padding,
                                           double min_fraction, double max_noise) {
    const CoherentNoiseRule rule{threshold, common_threshold, half_smoothing,
                                 padding,   min_fraction,     max_noise};
    const auto type = waveforms.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    auto result = at::empty(waveforms.sizes(), waveforms.options().dtype(type));
    if (waveforms.numel() == 0) {
        return result;
    }
    const std::int64_t ticks = waveforms.size(-1);
    const auto rows = as_rows(waveforms);
    const auto flags = good.flatten();
    const auto result_rows = as_rows(result);
    const auto bad = bad_ticks.reshape({rows.size(0), -1, 2});
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
            const auto lines = bad.numel() == 0
                                   ? at::Tensor{}
                                   : ticks_in(bad.index_select(0, channels), ticks).view({count, -1, ticks});
            result_rows.index_copy_(0, channels, cleaned_groups(samples, alive, lines, rule).flatten(0, 1));
        },
        limit);
    return result;
}

} // namespace spng
