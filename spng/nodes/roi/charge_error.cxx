// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/charge_error.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/row_chunks.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/rows/compacted_rows.h"
#include "spng/core/rows/encodings.h"
#include "spng/core/tensor_checks.h"
#include "spng/graph/tensor_node.h"
#include "spng/nodes/roi/level_window.h"
#include "spng/nodes/roi/region_growth.h"
#include "spng/nodes/roi/run_limits.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/nanmedian.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/take.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace spng {
namespace {

/// Lengths of time [ticks] of the sizes of a channel's noise; each is 4 times the one before.
constexpr std::array<std::int64_t, 3> size_lags{16, 64, 256};
constexpr std::int64_t min_size_ticks = 1024; ///< for a size of its own, or a quarter of the readout
constexpr double size_prior = 10;             ///< measurements that the size of the view counts as
constexpr std::int64_t shape_rows = 200;      ///< about so many channels of a view give the shape
constexpr double max_drift = 3; ///< of a channel with a part in the shape, in medians of its view
constexpr std::int64_t no_level = level_distance + 1; ///< distance that means: no level on this side
constexpr double no_pair = 0.1;                       ///< below this, a lag has no pair of ticks but rounding
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::vector<PlannedSet> plan_memory(const ChargeErrorConfig&, PlannedCall& call) {
    const PlannedTensor& waveform = call.inputs.at(0).at(0);
    PlannedTensor error = waveform;
    error.ticks = call.inputs.at(1).at(0).ticks;
    // Masks of all ticks, the table of variances with its temporaries, and a chunk of rows.
    const std::int64_t table = (no_level + 1) * (no_level + 1) * error.ticks * 8;
    const auto working =
        call.scratch(MemoryUse::images, 3 * waveform.samples() + 16 * table +
                                            std::min(192 * waveform.samples(), composition_bytes));
    return {{call.make(error, MemoryUse::images, call.real)}};
}

const Registration<ChargeError> registration{
    {.type = "SPNGChargeError",
     .kind = "roi",
     .inputs = {"waveform", "regions"},
     .outputs = {"error"},
     .text = "error of the charge of each ROI from the noise of its channel",
     .memory = memory_rule<ChargeError>({.call = plan_memory})}};

/// Noise outside of ROIs.
struct Noise {
    at::Tensor quiet; ///< (view, channel, tick) bool: outside of ROIs and of their levels
    at::Tensor mean;  ///< (view, channel) float64: of the quiet ticks
    at::Tensor
        sizes; ///< (lag, view, channel) float64: see measure_size(); only those of the first lag have no NaN
    at::Tensor counts;   ///< (lag, view, channel) float64: independent measurements of it
    at::Tensor is_shape; ///< (view, channel) bool: has a part in the shape of the noise
    at::Tensor good;     ///< (view, channel) bool
};

/// Return the mean of values over ticks, NaN for fewer than `least` of them, and the count of values.
std::pair<at::Tensor, at::Tensor> mean_over(const at::Tensor& values, const at::Tensor& counted,
                                            std::int64_t least) {
    const auto count = counted.sum(-1);
    const auto mean = at::where(counted, values, 0).sum(-1, /*keepdim=*/false, at::kDouble).div(count);
    return {at::where(count.ge(least), mean, unknown), count};
}

/// Return the size of the noise of channels on a length of time, with the count of independent measurements:
/// with a line as baseline the mean square of x(t) - (x(t - lag) + x(t + lag)) / 2, with the mean that of the
/// means of `lag` ticks.
/// @param x      (channel, tick), mean 0
/// @param quiet  (channel, tick) bool: ticks without charge
std::pair<at::Tensor, at::Tensor> measure_size(const at::Tensor& x, const at::Tensor& quiet, std::int64_t lag,
                                               Baseline baseline) {
    const std::int64_t ticks = x.size(-1), least = std::min(min_size_ticks, ticks / 4);
    if (baseline == Baseline::restored) {
        const auto blocks = [&](const at::Tensor& row) {
            return row.narrow(-1, 0, ticks / lag * lag).unflatten(-1, {ticks / lag, lag});
        };
        return mean_over(blocks(x).mean(-1).square(), blocks(quiet).all(-1), (least + lag - 1) / lag);
    }
    const std::int64_t step = lag / size_lags[0], last = std::max<std::int64_t>(0, ticks - 2 * lag);
    const auto from = [&](const at::Tensor& row, std::int64_t first) {
        return row.slice(-1, first, first + last, step);
    };
    const auto bend = from(x, lag).sub(from(x, 0).add(from(x, 2 * lag)).div(2));
    const auto are_quiet = from(quiet, 0).logical_and(from(quiet, lag)).logical_and(from(quiet, 2 * lag));
    const auto [size, count] = mean_over(bend.square(), are_quiet, least / step);
    return {size, count.div(size_lags[0])};
}

Noise measure_noise(const at::Tensor& waveform, const at::Tensor& quiet, const at::Tensor& good,
                    Baseline baseline) {
    const auto rows = as_rows(waveform), quiet_rows = as_rows(quiet);
    const auto options = waveform.options().dtype(at::kDouble);
    constexpr auto lags = static_cast<std::int64_t>(size_lags.size());
    const auto mean = at::empty({rows.size(0)}, options);
    const auto sizes = at::empty({lags, rows.size(0)}, options), counts = at::empty_like(sizes);
    for_row_chunks(rows.size(0), (5 * waveform.element_size() + 4) * waveform.size(-1),
                   [&](std::int64_t first, std::int64_t count) {
                       const auto x = rows.narrow(0, first, count), q = quiet_rows.narrow(0, first, count);
                       const auto level = mean_over(x, q, 1).first.nan_to_num(0);
                       mean.narrow(0, first, count).copy_(level);
                       const auto centred = x.sub(level.unsqueeze(-1).to(x.scalar_type()));
                       for (std::int64_t lag = 0; lag < lags; ++lag) {
                           const auto [size, measured] =
                               measure_size(centred, q, size_lags[static_cast<std::size_t>(lag)], baseline);
                           sizes[lag].narrow(0, first, count).copy_(size);
                           counts[lag].narrow(0, first, count).copy_(measured);
                       }
                   });
    const auto shape = [&](const at::Tensor& value) {
        return value.unflatten(-1, {waveform.size(0), waveform.size(1)});
    };
    const auto of_view = [&](const at::Tensor& value) {
        return std::get<0>(at::nanmedian(at::where(good, value, unknown), -1, /*keepdim=*/true));
    };
    const auto all = shape(sizes);
    all[0].copy_(at::where(all[0].isnan(), of_view(all[0]), all[0]));
    const auto drift = all.narrow(0, 1, lags - 1).div(all[0]);
    const auto drifts = drift.gt(of_view(drift).mul(max_drift)).any(0);
    const auto is_shape = all[0].gt(0).logical_and(drifts.logical_not()).logical_and_(good);
    return {quiet, shape(mean), all, shape(counts), is_shape, good};
}

/// Return the product of two spectra at equal frequencies, left * conj(right), of which the imaginary part
/// cancels in the sum over both signs of the lag.
at::Tensor real_product(const at::Tensor& left, const at::Tensor& right) {
    return at::view_as_real(left).mul(at::view_as_real(right)).sum(-1);
}

/// Every n-th good channel of a view, about shape_rows of them, for the shape of the noise.
struct ShapeChannels {
    at::Tensor index;   ///< (row) int64
    at::Tensor is_good; ///< (row) bool: false for rows beyond the last good channel
};

/// @param good  (channel) bool
ShapeChannels shape_channels(const at::Tensor& good) {
    const std::int64_t channels = good.size(0), stride = std::max<std::int64_t>(1, channels / shape_rows);
    const auto count = good.cumsum(0); // of good channels up to each one
    const auto stride_of_good = count[channels - 1].div(shape_rows, "floor").clamp_min_(1);
    const auto wanted =
        at::arange((channels + stride - 1) / stride, count.options()).mul(stride_of_good).add_(1);
    const auto index = at::searchsorted(count, wanted);
    return {index.clamp_max(channels - 1), index.lt(channels)};
}

/// Return the variogram of the noise of a view for a first size of 1, half the mean of (x(t) - x(t + lag))^2
/// over pairs of quiet ticks of its channels: (lag) float64. Differences do not suffer from slow noise, which
/// is much larger than their mean square.
at::Tensor variogram(const at::Tensor& waveform, const Noise& noise, std::int64_t view) {
    const std::int64_t ticks = waveform.size(-1), length = 2 * ticks;
    const auto [chosen, is_good] = shape_channels(noise.good[view]);
    const auto rows_of = [&view, &chosen = chosen](const at::Tensor& all) {
        return all.select(0, view).index_select(0, chosen);
    };
    const auto x = rows_of(waveform), quiet = rows_of(noise.quiet), mean = rows_of(noise.mean);
    // Equal weights, because the reciprocal of a measured size is too large in the mean; noisy channels have
    // less.
    const auto size = rows_of(noise.sizes[0]);
    const auto common =
        std::get<0>(at::nanmedian(at::where(is_good, size, unknown), -1, /*keepdim=*/true)).mul(2);
    const auto weight =
        at::where(rows_of(noise.is_shape).logical_and(is_good), size.maximum(common).reciprocal(), 0);
    const auto options = waveform.options().dtype(at::kDouble);
    auto squares = at::zeros({length / 2 + 1}, options), sizes = at::zeros({length / 2 + 1}, options);
    for_row_chunks(x.size(0), 12 * 8 * length, [&](std::int64_t first, std::int64_t count) {
        const auto part = [&](const at::Tensor& all) { return all.narrow(0, first, count); };
        const auto is_quiet = part(quiet).to(at::kDouble);
        const auto rows = part(x).to(at::kDouble).sub_(part(mean).unsqueeze(-1)).mul_(is_quiet);
        const auto spectrum = at::fft_rfft(rows, length), of_mask = at::fft_rfft(is_quiet, length);
        const auto differences =
            real_product(at::fft_rfft(rows.square(), length), of_mask).sub_(real_product(spectrum, spectrum));
        squares.add_(differences.mul_(part(weight).unsqueeze(-1)).sum(0));
        sizes.add_(real_product(of_mask, of_mask).mul_(part(size.mul(weight)).unsqueeze(-1)).sum(0));
    });
    const auto lags = [&](const at::Tensor& spectrum) {
        return at::fft_irfft(spectrum, length).narrow(0, 0, ticks);
    };
    return lags(squares).div(lags(sizes).clamp_min(no_pair));
}

/// Variances of sums of the noise of a view, for a first size of 1. All float64.
struct SumVariance {
    at::Tensor of_roi; ///< (slices of the ROI - 1, distance of the level before, after)
    at::Tensor growth; ///< of a long sum, for each tick
    at::Tensor sizes;  ///< (lag): see measure_size()
};

/// Return the variance of the sum of an ROI after the line through the levels beside it (rebaseline.h), or
/// after one level or none, for all lengths and distances. It is a quadratic form of the covariance R(lag) of
/// the noise; every covariance of two sums over adjacent ticks follows from S(n), the variance of the sum of
/// n ticks.
SumVariance variance_of_sums(const at::Tensor& gamma, std::int64_t slices, std::int64_t factor,
                             Baseline baseline) {
    const std::int64_t ticks = gamma.size(0), long_lag = ticks / 8;
    const auto covariance = gamma.slice(0, long_lag, std::max(ticks / 4, long_lag + 1)).mean().sub(gamma);
    constexpr std::int64_t beyond = 2 * level_distance + level_ticks;
    const auto growth_of_sum =
        at::cumsum(at::constant_pad_nd(covariance, {0, slices * factor + beyond - ticks}), 0)
            .mul(2)
            .sub(covariance[0]);
    const auto sums = at::constant_pad_nd(at::cumsum(growth_of_sum, 0), {1, 0});
    const auto of = [&](const at::Tensor& count) { return at::take(sums, count.abs()); };

    const auto whole = gamma.options().dtype(at::kLong);
    const auto n = at::arange(1, slices + 1, whole).mul(factor).view({-1, 1, 1});
    const auto distance = at::arange(no_level + 1, whole);
    const auto has_level = distance.ne(no_level);
    const auto p = at::where(has_level, distance, 0).view({1, -1, 1}), q = p.view({1, 1, -1});
    const auto has_left = has_level.view({1, -1, 1}), has_right = has_level.view({1, 1, -1});
    const auto has_both = has_left.logical_and(has_right);
    const auto width = n.add(p).add(q);
    // How many times the line subtracts each level from the sum.
    const auto ticks_of = n.to(at::kDouble);
    const auto slope = ticks_of.div(width);
    const auto left = at::where(has_both, slope.mul(ticks_of.div(2).add(q)), ticks_of.mul(has_left));
    const auto right = at::where(has_both, slope.mul(ticks_of.div(2).add(p)), ticks_of.mul(has_right));

    constexpr std::int64_t half = level_ticks / 2;
    const auto with_level = [&](const at::Tensor& d) {
        const auto end = n.add(d);
        return of(end.add(half)).sub(of(end.sub(half))).sub(of(d.add(half))).add(of(d.sub(half))).div(2);
    };
    const auto of_levels = of(width.add(level_ticks)).add(of(width.sub(level_ticks))).div(2).sub(of(width));
    const auto variance =
        of(n)
            .sub(left.mul(with_level(p)).add(right.mul(with_level(q))).mul(2.0 / level_ticks))
            .add(left.square().add(right.square()).mul(sums[level_ticks]).div(level_ticks * level_ticks))
            .add(left.mul(right).mul(of_levels).mul(2.0 / (level_ticks * level_ticks)));
    std::vector<at::Tensor> sizes;
    for (const std::int64_t lag : size_lags) {
        sizes.push_back(baseline == Baseline::restored ? sums[std::min(lag, ticks)].div(lag * lag)
                                                       : gamma[std::min(lag, ticks - 1)].mul(2).sub(
                                                             gamma[std::min(2 * lag, ticks - 1)].div(2)));
    }
    // A longer ROI has no smaller error; the measured covariance does not guarantee it.
    return {std::get<0>(at::cummax(variance.clamp_min(0), 0)),
            sums[long_lag].div(std::max<std::int64_t>(1, long_lag)), at::stack(sizes)};
}

/// Return the variance of the noise of the channels of a view over that of the view: for short ROIs, and the
/// logarithms of the factors on it for longer ROIs, (lag, channel) float64.
at::Tensor scale_of_channels(const Noise& noise, const at::Tensor& of_view, std::int64_t view) {
    const auto sizes = noise.sizes.select(1, view), counts = noise.counts.select(1, view);
    const auto ratio = sizes.div(sizes[0]).div(of_view.unsqueeze(-1));
    // Few measurements have large fluctuations.
    const auto factor = ratio.mul(counts).add(size_prior).div(counts.add(size_prior)).log();
    std::vector<at::Tensor> scale{sizes[0]};
    at::Tensor before = at::zeros_like(sizes[0]);
    for (std::int64_t lag = 1; lag < sizes.size(0); ++lag) {
        before = at::where(factor[lag].isnan(), before, factor[lag]);
        scale.push_back(before);
    }
    return at::stack(scale);
}

/// Return the error of the samples of the ROIs of some channels of a view.
/// @param inside  (channel, slice) bool
/// @param scale   (lag, channel) float64, of scale_of_channels()
at::Tensor errors_of_rows(const at::Tensor& inside, const at::Tensor& scale, const SumVariance& sums,
                          std::int64_t ticks, std::int64_t factor, Baseline baseline) {
    const auto [first, end, gap_before, gap_after] = run_limits(inside, 2 * level_distance);
    const auto begin_tick = first.mul(factor), end_tick = end.mul(factor).clamp_max(ticks);
    const auto count = end_tick.sub(begin_tick).to(at::kDouble);
    auto index = end.sub(first).sub_(1).mul_((no_level + 1) * (no_level + 1));
    if (baseline == Baseline::linear) {
        const auto distance = [&](const at::Tensor& gap, const at::Tensor& to_end_of_row) {
            const auto wanted = gap.mul(factor).div_(2, "floor").clamp_max_(level_distance);
            return at::where(to_end_of_row.sub(wanted).ge(level_ticks / 2), wanted, no_level);
        };
        index.add_(distance(gap_before, begin_tick).mul_(no_level + 1));
        index.add_(distance(gap_after, end_tick.neg().add_(ticks)));
    } else {
        index.add_(no_level * (no_level + 1) + no_level);
    }
    auto variance = at::take(sums.of_roi, index);
    if (baseline == Baseline::restored) {
        const auto outside = inside.sum(-1, /*keepdim=*/true).mul_(-factor).add_(ticks);
        const auto share = at::where(outside.gt(0), count.div(outside.clamp_min(1)), 0);
        variance.add_(share.mul(count).mul(sums.growth));
    }
    // Between the lags the logarithm of the factor is interpolated over that of the length.
    const auto position = count.div(size_lags[0]).log2_().div_(2);
    auto factor_of_length = scale[1].unsqueeze(-1).mul(position.clamp(0, 1));
    factor_of_length.add_(scale[2].sub(scale[1]).unsqueeze(-1).mul(position.sub(1).clamp_(0, 1)));
    variance.mul_(factor_of_length.exp_()).mul_(scale[0].unsqueeze(-1));
    const auto error = variance.div_(count).sqrt_();
    const auto known = at::where(error.isnan(), std::numeric_limits<double>::infinity(), error);
    return at::where(inside, known, 0);
}

} // namespace

at::Tensor charge_error(const at::Tensor& waveform, const at::Tensor& mask, const at::Tensor& good,
                        std::int64_t factor, Baseline baseline) {
    require_rows_and_mask("charge_error", waveform, mask, factor);
    require_tensor(waveform.dim() == 3, "charge_error", "waveform", waveform, "(view, channel, tick)");
    require_tensor(is_mask(good) && good.sizes() == waveform.sizes().slice(0, 2), "charge_error", "good",
                   good, "bool (view, channel)");
    const std::int64_t ticks = waveform.size(-1), slices = (ticks + factor - 1) / factor;
    const auto inside = unpack_ticks(mask, slices);
    const auto result = at::empty(inside.sizes(), waveform.options());
    if (result.numel() == 0) {
        return result;
    }
    const std::int64_t reach = (level_distance + level_ticks / 2 + factor - 1) / factor;
    const at::Tensor wider = find_regions(mask.unsqueeze(0), {}, {.always = 1, .pad = reach}, slices);
    const auto with_levels = unpack_ticks(wider, slices);
    const Noise noise = measure_noise(
        waveform, upsample_mask(with_levels, factor).narrow(-1, 0, ticks).logical_not(), good, baseline);
    for (std::int64_t view = 0; view < waveform.size(0); ++view) {
        const SumVariance sums = variance_of_sums(variogram(waveform, noise, view), slices, factor, baseline);
        const at::Tensor scale = scale_of_channels(noise, sums.sizes, view);
        // Twenty int64 and float64, and masks.
        for_row_chunks(waveform.size(1), (20 * 8 + 8) * slices, [&](std::int64_t first, std::int64_t count) {
            result[view]
                .narrow(0, first, count)
                .copy_(errors_of_rows(inside[view].narrow(0, first, count), scale.narrow(1, first, count),
                                      sums, ticks, factor, baseline));
        });
    }
    return result;
}

Ports ChargeError::process(const Ports& inputs) {
    const NamedTensor& waveform = inputs[0]->only();
    const NamedTensor& regions = inputs[1]->at(config().roi);
    const auto factor = std::llround(regions.axes.back().period / waveform.axes.back().period);
    NVTX_SCOPED_RANGE("ChargeError::measure");
    NamedTensor error = waveform;
    error.name = config().output;
    error.data = charge_error(waveform.data, packed_mask(regions), waveform.channels->good, factor,
                              config().baseline == "linear" ? Baseline::linear : Baseline::restored);
    error.axes = regions.axes;
    error.notes = regions.notes;
    std::vector<NamedTensor> tensors{std::move(error)};
    if (inputs[0]->event().window) {
        tensors.push_back(regions);
    }
    return output_of(inputs[0], std::move(tensors));
}

} // namespace spng
