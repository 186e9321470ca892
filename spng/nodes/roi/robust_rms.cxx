// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/robust_rms.h"

#include "spng/core/operator.h"
#include "spng/core/rows/lane_sum.h"
#include "spng/core/rows/multiversion.h"
#include "spng/core/selection.h"
#include "spng/core/tensor_checks.h"
#include "spng/detector/view_statistics.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <tuple>
#include <vector>

namespace spng {

namespace {

/// Low, median and RMS; operators return several results as a tuple.
using Noise = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

constexpr double low_fraction = 0.16;
constexpr double median_fraction = 0.50;
constexpr double high_fraction = 0.84;

std::int64_t rank_of(double fraction, std::int64_t ticks) {
    return static_cast<std::int64_t>(fraction * static_cast<double>(ticks - 1));
}

template <class Sample>
struct RowNoise {
    Sample low, median;
    double cut_rms; ///< RMS of the samples within the cut, before the division by that of a Gaussian
};

template <class Sample>
SPNG_MULTIVERSION RowNoise<Sample> noise_of_row(const Sample* row, std::int64_t ticks, NoiseRanks ranks,
                                                double cut, OrderedKey<Sample>* keys) {
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        keys[tick] = ordered_key(row[tick]);
    }
    const auto range = range_of_keys(keys, ticks);
    const auto low = select_key(keys, ticks, ranks.low, range);
    const auto middle = select_key(keys, ticks, ranks.median, {low, range.high});
    const auto high = select_key(keys, ticks, ranks.high, {middle, range.high});
    const double median = sample_of_key(middle);
    const double above = sample_of_key(high) - median;
    const double below = median - sample_of_key(low);
    const double limit = cut * std::sqrt((above * above + below * below) / 2);
    const auto is_noise = [=](double sample) {
        return (sample - median <= limit) & (median - sample <= limit);
    };
    const double squares = lane_sum(row, ticks, [=](double sample) {
        return is_noise(sample) ? (sample - median) * (sample - median) : 0.0;
    });
    const double count = lane_sum(row, ticks, [=](double sample) { return is_noise(sample) ? 1.0 : 0.0; });
    return {sample_of_key(low), sample_of_key(middle), std::sqrt(squares / count)};
}

template <class Sample>
SPNG_MULTIVERSION double plain_rms_of_row(const Sample* row, std::int64_t ticks) {
    const double mean =
        lane_sum(row, ticks, [](double sample) { return sample; }) / static_cast<double>(ticks);
    const double squares =
        lane_sum(row, ticks, [=](double sample) { return (sample - mean) * (sample - mean); });
    return std::sqrt(squares / static_cast<double>(ticks - 1));
}

at::Tensor zero_of_every_row(const at::Tensor& waveforms) {
    return at::zeros(waveforms.sizes().slice(0, waveforms.dim() - 1), waveforms.options());
}

template <class Sample>
void noise_of_rows(const at::Tensor& waveforms, double cut, Noise& noise) {
    const std::int64_t ticks = waveforms.size(-1);
    const NoiseRanks ranks(ticks);
    const double gaussian = rms_of_cut_gaussian(cut);
    const auto* from = waveforms.const_data_ptr<Sample>();
    auto* low = std::get<0>(noise).mutable_data_ptr<Sample>();
    auto* median = std::get<1>(noise).mutable_data_ptr<Sample>();
    auto* rms = std::get<2>(noise).mutable_data_ptr<Sample>();
    at::parallel_for(0, waveforms.numel() / ticks, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<OrderedKey<Sample>> keys(ticks);
        for (std::int64_t row = begin; row < end; ++row) {
            const auto found = noise_of_row(from + row * ticks, ticks, ranks, cut, keys.data());
            low[row] = found.low;
            median[row] = found.median;
            rms[row] = static_cast<Sample>(found.cut_rms / gaussian);
        }
    });
}

template <class Sample>
void plain_rms_of_rows(const at::Tensor& waveforms, at::Tensor& result) {
    const std::int64_t ticks = waveforms.size(-1);
    const auto* from = waveforms.const_data_ptr<Sample>();
    auto* to = result.mutable_data_ptr<Sample>();
    at::parallel_for(0, result.numel(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            to[row] = static_cast<Sample>(plain_rms_of_row(from + row * ticks, ticks));
        }
    });
}

Noise robust_noise_cpu(const at::Tensor& waveforms, double cut) {
    if (waveforms.numel() == 0) {
        return {zero_of_every_row(waveforms), zero_of_every_row(waveforms), zero_of_every_row(waveforms)};
    }
    const auto input = waveforms.contiguous();
    const auto shape = waveforms.sizes().slice(0, waveforms.dim() - 1);
    Noise noise{at::empty(shape, waveforms.options()), at::empty(shape, waveforms.options()),
                at::empty(shape, waveforms.options())};
    input.scalar_type() == at::kFloat ? noise_of_rows<float>(input, cut, noise)
                                      : noise_of_rows<double>(input, cut, noise);
    return noise;
}

at::Tensor plain_rms_cpu(const at::Tensor& waveforms) {
    if (waveforms.numel() == 0 || waveforms.size(-1) < 2) {
        return zero_of_every_row(waveforms);
    }
    const auto input = waveforms.contiguous();
    auto result = at::empty(waveforms.sizes().slice(0, waveforms.dim() - 1), waveforms.options());
    input.scalar_type() == at::kFloat ? plain_rms_of_rows<float>(input, result)
                                      : plain_rms_of_rows<double>(input, result);
    return result;
}

using CappedNoise = std::tuple<at::Tensor, at::Tensor>;

template <class Sample>
void cap_views(const at::Tensor& low, const at::Tensor& median, const at::Tensor& rms, const bool* good,
               const Sample* expected, Sample cap, CappedNoise& capped) {
    const std::int64_t channels = rms.size(1);
    const auto* of_low = low.const_data_ptr<Sample>();
    const auto* of_median = median.const_data_ptr<Sample>();
    const auto* of_rms = rms.const_data_ptr<Sample>();
    auto* to_median = std::get<0>(capped).mutable_data_ptr<Sample>();
    auto* to_rms = std::get<1>(capped).mutable_data_ptr<Sample>();
    std::vector<Sample> counted;
    for (std::int64_t first = 0; first < rms.numel(); first += channels) {
        counted.clear();
        for (std::int64_t i = first; i < first + channels; ++i) {
            if (of_rms[i] > 0 && (good == nullptr || good[i])) {
                counted.push_back(of_rms[i]);
            }
        }
        const auto count = static_cast<std::int64_t>(counted.size());
        const bool is_predicted = expected != nullptr && count < min_measured_channels;
        Sample typical = std::numeric_limits<Sample>::quiet_NaN();
        if (count > 0) {
            const auto middle = counted.begin() + (count - 1) / 2;
            std::nth_element(counted.begin(), middle, counted.end());
            typical = *middle;
        }
        for (std::int64_t i = first; i < first + channels; ++i) {
            // The limit of a view without any noise is NaN, which fmin() ignores.
            to_rms[i] = std::fmin(of_rms[i], (is_predicted ? expected[i] : typical) * cap);
            const Sample highest = of_low[i] + to_rms[i];
            to_median[i] = of_median[i] <= highest || std::isnan(of_median[i]) ? of_median[i] : highest;
        }
    }
}

CappedNoise capped_noise_cpu(const at::Tensor& low, const at::Tensor& median, const at::Tensor& rms,
                             const std::optional<at::Tensor>& good, const std::optional<at::Tensor>& expected,
                             double cap) {
    CappedNoise capped{at::empty(rms.sizes(), rms.options()), at::empty(rms.sizes(), rms.options())};
    const auto levels = low.contiguous(), medians = median.contiguous(), noise = rms.contiguous();
    const auto flags = good ? good->contiguous() : at::Tensor();
    const auto predicted = expected ? expected->contiguous() : at::Tensor();
    const bool* counted = good ? flags.const_data_ptr<bool>() : nullptr;
    const auto cap_as = [&]<class Sample>(Sample limit) {
        cap_views<Sample>(levels, medians, noise, counted,
                          expected ? predicted.const_data_ptr<Sample>() : nullptr, limit, capped);
    };
    rms.scalar_type() == at::kFloat ? cap_as(static_cast<float>(cap)) : cap_as(cap);
    return capped;
}

const Operator robust_noise_op{
    "robust_noise(Tensor waveforms, float cut) -> (Tensor low, Tensor median, Tensor rms)", robust_noise_cpu,
    kernels::robust_noise};
const Operator capped_noise_op{
    "capped_noise(Tensor low, Tensor median, Tensor rms, Tensor? good, Tensor? expected, float cap) "
    "-> (Tensor median, Tensor rms)",
    capped_noise_cpu, kernels::capped_noise};
const Operator plain_rms_op{"plain_rms(Tensor waveforms) -> Tensor", plain_rms_cpu, kernels::plain_rms};

void require_real_waveforms(const char* name, const at::Tensor& waveforms) {
    require_tensor(is_real(waveforms) && waveforms.dim() >= 1, name, "waveforms", waveforms,
                   "float32 or float64 (..., channel, tick)");
}

} // namespace

NoiseRanks::NoiseRanks(std::int64_t ticks)
    : low(rank_of(low_fraction, ticks)), median(rank_of(median_fraction, ticks)),
      high(rank_of(high_fraction, ticks)) {}

// Integral of x^2 phi(x) by parts over that of phi(x).
double rms_of_cut_gaussian(double cut) {
    const double density = std::exp(-cut * cut / 2) / std::sqrt(2 * std::numbers::pi);
    return std::sqrt(1 - 2 * cut * density / std::erf(cut / std::numbers::sqrt2));
}

ChannelNoise robust_noise(const at::Tensor& waveforms, double cut) {
    require_real_waveforms("robust_noise", waveforms);
    require_argument(cut >= 1 && cut <= 10, "robust_noise", "cut in sigma", static_cast<std::int64_t>(cut),
                     "1 to 10");
    auto [low, median, rms] = robust_noise_op(waveforms, cut);
    return {low, median, rms};
}

ChannelNoise capped_noise(const ChannelNoise& noise, const ViewNoise& view, double cap) {
    for (const auto* each : {&noise.low, &noise.median, &noise.rms}) {
        require_tensor(is_real(*each) && each->dim() == 2 && each->sizes() == noise.rms.sizes() &&
                           each->scalar_type() == noise.rms.scalar_type(),
                       "capped_noise", "noise", *each, "float32 or float64 (view, channel)");
    }
    require_tensor(!view.good.defined() || (is_mask(view.good) && view.good.sizes() == noise.rms.sizes()),
                   "capped_noise", "good", view.good, "bool (view, channel), or undefined");
    require_tensor(!view.expected.defined() || (view.expected.sizes() == noise.rms.sizes() &&
                                                view.expected.scalar_type() == noise.rms.scalar_type()),
                   "capped_noise", "expected", view.expected,
                   "(view, channel), type of the RMS, or undefined");
    if (noise.rms.numel() == 0) {
        return noise;
    }
    const auto if_defined = [](const at::Tensor& tensor) {
        return tensor.defined() ? std::optional(tensor) : std::nullopt;
    };
    auto [median, rms] = capped_noise_op(noise.low, noise.median, noise.rms, if_defined(view.good),
                                         if_defined(view.expected), cap);
    return {noise.low, median, rms};
}

at::Tensor plain_rms(const at::Tensor& waveforms) {
    require_real_waveforms("plain_rms", waveforms);
    return plain_rms_op(waveforms);
}

} // namespace spng
