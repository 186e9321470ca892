#include "spng/roi/robust_rms.h"

#include "spng/core/lane_sum.h"
#include "spng/core/multiversion.h"
#include "spng/core/selection.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/std.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <cmath>
#include <vector>

namespace spng {

namespace {

constexpr double low_fraction = 0.16;
constexpr double median_fraction = 0.50;
constexpr double high_fraction = 0.84;
constexpr double signal_free_sigmas = 5.0;

std::int64_t rank_of(double fraction, std::int64_t ticks) {
    return static_cast<std::int64_t>(fraction * static_cast<double>(ticks - 1));
}

/// The three ranks for a row length.
struct Ranks {
    std::int64_t low, median, high;
    explicit Ranks(std::int64_t ticks)
        : low(rank_of(low_fraction, ticks)), median(rank_of(median_fraction, ticks)),
          high(rank_of(high_fraction, ticks)) {}
};

template <class Sample>
SPNG_MULTIVERSION double robust_rms_of_row(const Sample* row, std::int64_t ticks, Ranks ranks,
                                           OrderedKey<Sample>* keys) {
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
    const double limit = signal_free_sigmas * std::sqrt((above * above + below * below) / 2);
    const auto is_quiet = [=](double sample) {
        return (sample - median <= limit) & (median - sample <= limit);
    };
    const double squares = lane_sum(row, ticks, [=](double sample) {
        return is_quiet(sample) ? (sample - median) * (sample - median) : 0.0;
    });
    return std::sqrt(squares /
                     lane_sum(row, ticks, [=](double sample) { return is_quiet(sample) ? 1.0 : 0.0; }));
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
void robust_rms_of_rows(const at::Tensor& waveforms, at::Tensor& result) {
    const std::int64_t ticks = waveforms.size(-1);
    const Ranks ranks(ticks);
    const auto* from = waveforms.const_data_ptr<Sample>();
    auto* to = result.mutable_data_ptr<Sample>();
    at::parallel_for(0, result.numel(), 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<OrderedKey<Sample>> keys(ticks);
        for (std::int64_t row = begin; row < end; ++row) {
            to[row] = static_cast<Sample>(robust_rms_of_row(from + row * ticks, ticks, ranks, keys.data()));
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

at::Tensor robust_rms_cpu(const at::Tensor& waveforms) {
    if (waveforms.numel() == 0) {
        return zero_of_every_row(waveforms);
    }
    const auto input = waveforms.contiguous();
    auto result = at::empty(waveforms.sizes().slice(0, waveforms.dim() - 1), waveforms.options());
    input.scalar_type() == at::kFloat ? robust_rms_of_rows<float>(input, result)
                                      : robust_rms_of_rows<double>(input, result);
    return result;
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

at::Tensor robust_rms_composite(const at::Tensor& waveforms) {
    if (waveforms.numel() == 0) {
        return zero_of_every_row(waveforms);
    }
    const Ranks ranks(waveforms.size(-1));
    const auto sorted = std::get<0>(at::sort(waveforms, -1));
    const auto median = sorted.narrow(-1, ranks.median, 1);
    const auto above = sorted.narrow(-1, ranks.high, 1).sub(median);
    const auto below = median.sub(sorted.narrow(-1, ranks.low, 1));
    const auto limit = above.square().add(below.square()).div(2).sqrt().mul(signal_free_sigmas);
    const auto deviation = waveforms.sub(median);
    const auto quiet = deviation.abs().le(limit);
    const auto squares = at::where(quiet, deviation.square(), 0).sum(-1);
    return squares.div(quiet.sum(-1)).sqrt();
}

at::Tensor plain_rms_composite(const at::Tensor& waveforms) {
    if (waveforms.numel() == 0 || waveforms.size(-1) < 2) {
        return zero_of_every_row(waveforms);
    }
    return at::std(waveforms, at::IntArrayRef{-1}, /*unbiased=*/true);
}

at::Tensor call(const char* operation, const char* name, const at::Tensor& waveforms) {
    require_tensor(is_real(waveforms) && waveforms.dim() >= 1, name, "waveforms", waveforms,
                   "float32 or float64 (..., channel, tick)");
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow(operation, "")
        .typed<at::Tensor(const at::Tensor&)>()
        .call(waveforms);
}

} // namespace

at::Tensor robust_rms(const at::Tensor& waveforms) {
    return call("spng::robust_rms", "robust_rms", waveforms);
}

at::Tensor plain_rms(const at::Tensor& waveforms) {
    return call("spng::plain_rms", "plain_rms", waveforms);
}

TORCH_LIBRARY_FRAGMENT(spng, library) {
    library.def("robust_rms(Tensor waveforms) -> Tensor");
    library.def("plain_rms(Tensor waveforms) -> Tensor");
}

TORCH_LIBRARY_IMPL(spng, CPU, library) {
    library.impl("robust_rms", robust_rms_cpu);
    library.impl("plain_rms", plain_rms_cpu);
}

TORCH_LIBRARY_IMPL(spng, CompositeExplicitAutograd, library) {
    library.impl("robust_rms", robust_rms_composite);
    library.impl("plain_rms", plain_rms_composite);
}

} // namespace spng
