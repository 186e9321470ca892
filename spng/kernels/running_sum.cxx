// SPDX-License-Identifier: Apache-2.0
#include "spng/core/tensor_checks.h"
#include "spng/kernels/launch.h"
#include "spng/nodes/roi/long_pulses.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>

namespace spng::kernels {

namespace {

constexpr std::int64_t max_ticks = 1 << 30;

template <class Real>
void running_sum(const char* kernel, const at::Tensor& waveform, const at::Tensor& pedestal,
                 const at::Tensor& rms, double clip, at::IntArrayRef samples, at::Tensor result) {
    const std::int64_t ticks = waveform.size(-1);
    const std::int64_t rows = waveform.numel() / ticks;
    const std::int64_t tiles = (ticks + tile_ticks - 1) / tile_ticks;
    const std::int64_t longest = *std::max_element(samples.begin(), samples.end());
    require_argument(ticks < max_ticks && longest < max_ticks, "kernels", "ticks of a row and of a sum",
                     std::max(ticks, longest), "below 2^30, since the kernel counts in 32 bits");
    const auto bytes_of = [](std::int64_t elements) {
        return (elements * static_cast<std::int64_t>(sizeof(Real)) + 7) / 8 * 8;
    };
    const std::int64_t staged_bytes = bytes_of(tile_ticks + longest - 1);
    const bool staged = staged_bytes + bytes_of(tile_ticks) <= max_shared_bytes;
    List<int, max_lengths> lengths{};
    std::copy(samples.begin(), samples.end(), lengths.at);
    launch(kernel, waveform.device(), blocks_for(rows * tiles, 1),
           bytes_of(tile_ticks) + (staged ? staged_bytes : 0), waveform.const_data_ptr<Real>(), rows, ticks,
           pedestal.const_data_ptr<Real>(), rms.const_data_ptr<Real>(), static_cast<Real>(clip), lengths,
           static_cast<int>(samples.size()), static_cast<int>(longest / 2), static_cast<int>(staged),
           result.mutable_data_ptr<Real>());
}

template <class Real>
void sum_of_neighbours(const char* kernel, const at::Tensor& waveform, bool cyclic, at::Tensor& result) {
    const std::int64_t rows = waveform.size(0) * waveform.size(1);
    launch(kernel, waveform.device(), blocks_for(rows, 1), 0, waveform.const_data_ptr<Real>(), rows,
           waveform.size(1), waveform.size(2), static_cast<int>(cyclic), result.mutable_data_ptr<Real>());
}

} // namespace

at::Tensor clipped_running_sum(const at::Tensor& waveform, const at::Tensor& pedestal, const at::Tensor& rms,
                               double clip, at::IntArrayRef samples) {
    const at::Tensor input = waveform.contiguous();
    const at::Tensor level = pedestal.contiguous();
    const at::Tensor unit = rms.contiguous();
    auto shape = waveform.sizes().vec();
    shape.insert(shape.begin(), static_cast<std::int64_t>(samples.size()));
    at::Tensor result = at::empty(shape, waveform.options());
    for (std::size_t first = 0; result.numel() > 0 && first < samples.size(); first += max_lengths) {
        const auto some = samples.slice(first, std::min<std::size_t>(max_lengths, samples.size() - first));
        const at::Tensor part =
            result.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(some.size()));
        waveform.scalar_type() == at::kFloat
            ? running_sum<float>("clipped_running_sum_float32", input, level, unit, clip, some, part)
            : running_sum<double>("clipped_running_sum_float64", input, level, unit, clip, some, part);
    }
    return result;
}

at::Tensor sum_of_neighbours(const at::Tensor& waveform, bool cyclic) {
    const at::Tensor input = waveform.contiguous();
    at::Tensor result = at::empty_like(input);
    if (result.numel() > 0) {
        waveform.scalar_type() == at::kFloat
            ? sum_of_neighbours<float>("sum_of_neighbours_float32", input, cyclic, result)
            : sum_of_neighbours<double>("sum_of_neighbours_float64", input, cyclic, result);
    }
    return result;
}

} // namespace spng::kernels
