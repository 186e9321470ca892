// SPDX-License-Identifier: Apache-2.0
#include "spng/core/tensor_checks.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/operators.h"

#include <ATen/ops/empty_like.h>

#include <algorithm>

namespace spng::kernels {

namespace {

constexpr std::int64_t max_ticks = 1 << 30;

template <class Real>
void running_sum(const char* kernel, const at::Tensor& waveform, const at::Tensor& pedestal,
                 const at::Tensor& rms, double clip, std::int64_t samples, at::Tensor& result) {
    const std::int64_t ticks = waveform.size(-1);
    const std::int64_t rows = waveform.numel() / ticks;
    const std::int64_t tiles = (ticks + tile_ticks - 1) / tile_ticks;
    require_argument(ticks < max_ticks && samples < max_ticks, "kernels", "ticks of a row and of a sum",
                     std::max(ticks, samples), "below 2^30, since the kernel counts in 32 bits");
    const auto bytes_of = [](std::int64_t elements) {
        return (elements * static_cast<std::int64_t>(sizeof(Real)) + 7) / 8 * 8;
    };
    const bool staged = bytes_of(tile_ticks + samples - 1) <= max_shared_bytes;
    launch(kernel, waveform.device(), blocks_for(rows * tiles, 1),
           bytes_of(tile_ticks + (staged ? samples - 1 : 0)), waveform.const_data_ptr<Real>(), rows, ticks,
           pedestal.const_data_ptr<Real>(), rms.const_data_ptr<Real>(), static_cast<Real>(clip), samples,
           static_cast<int>(staged), result.mutable_data_ptr<Real>());
}

} // namespace

at::Tensor clipped_running_sum(const at::Tensor& waveform, const at::Tensor& pedestal, const at::Tensor& rms,
                               double clip, std::int64_t samples) {
    const at::Tensor input = waveform.contiguous();
    const at::Tensor level = pedestal.contiguous();
    const at::Tensor unit = rms.contiguous();
    at::Tensor result = at::empty_like(input);
    if (result.numel() > 0) {
        waveform.scalar_type() == at::kFloat
            ? running_sum<float>("clipped_running_sum_float32", input, level, unit, clip, samples, result)
            : running_sum<double>("clipped_running_sum_float64", input, level, unit, clip, samples, result);
    }
    return result;
}

} // namespace spng::kernels
