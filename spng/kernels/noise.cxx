// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/view_statistics.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/rows.h"
#include "spng/nodes/roi/robust_rms.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

namespace spng::kernels {

namespace {

at::Tensor one_for_each_row(const at::Tensor& waveforms, bool zero) {
    const auto shape = waveforms.sizes().slice(0, waveforms.dim() - 1);
    return zero ? at::zeros(shape, waveforms.options()) : at::empty(shape, waveforms.options());
}

struct NoiseKernels {
    const char* rows;
    const char* short_rows; ///< one row per warp of a block
};

template <class Real>
void robust_noise(NoiseKernels kernels, const Rows& rows, double cut, at::Tensor& low, at::Tensor& median,
                  at::Tensor& rms) {
    const NoiseRanks ranks(rows.ticks);
    const std::int64_t bytes_of_warps =
        (warps_of_block * rows.ticks * static_cast<std::int64_t>(sizeof(Real)) + 7) / 8 * 8;
    const bool short_rows = bytes_of_warps <= max_shared_bytes;
    launch(short_rows ? kernels.short_rows : kernels.rows, rms.device(),
           blocks_for(rows.rows, short_rows ? warps_of_block : 1),
           short_rows ? bytes_of_warps : reduction_bytes + rows.staged_bytes, rows.data<Real>(), rows.rows,
           rows.row_stride, rows.ticks, rows.tick_stride, ranks.low, ranks.median, ranks.high, cut,
           static_cast<Real>(rms_of_cut_gaussian(cut)), static_cast<int>(rows.staged),
           low.mutable_data_ptr<Real>(), median.mutable_data_ptr<Real>(), rms.mutable_data_ptr<Real>());
}

template <class Real>
void plain_rms(const char* kernel, const Rows& rows, at::Tensor& rms) {
    launch(kernel, rms.device(), blocks_for(rows.rows, 1), reduction_bytes + rows.staged_bytes,
           rows.data<Real>(), rows.rows, rows.row_stride, rows.ticks, rows.tick_stride,
           static_cast<int>(rows.staged), rms.mutable_data_ptr<Real>());
}

template <class Real>
void capped_noise(const char* kernel, const at::Tensor& low, const at::Tensor& median, const at::Tensor& rms,
                  const std::optional<at::Tensor>& good, const std::optional<at::Tensor>& expected,
                  double cap, at::Tensor& capped_median, at::Tensor& capped_rms) {
    launch(kernel, rms.device(), blocks_for(rms.size(0), 1), reduction_bytes, low.const_data_ptr<Real>(),
           median.const_data_ptr<Real>(), rms.const_data_ptr<Real>(),
           good ? good->const_data_ptr<bool>() : static_cast<const bool*>(nullptr),
           expected ? expected->const_data_ptr<Real>() : static_cast<const Real*>(nullptr), rms.size(0),
           rms.size(1), static_cast<std::int64_t>(min_measured_channels), static_cast<Real>(cap),
           capped_median.mutable_data_ptr<Real>(), capped_rms.mutable_data_ptr<Real>());
}

} // namespace

std::tuple<at::Tensor, at::Tensor, at::Tensor> robust_noise(const at::Tensor& waveforms, double cut) {
    const bool empty = waveforms.numel() == 0;
    at::Tensor low = one_for_each_row(waveforms, empty);
    at::Tensor median = one_for_each_row(waveforms, empty);
    at::Tensor rms = one_for_each_row(waveforms, empty);
    if (!empty) {
        const Rows rows = rows_of(waveforms, reduction_bytes);
        waveforms.scalar_type() == at::kFloat
            ? robust_noise<float>({"robust_noise_float32", "robust_noise_of_short_rows_float32"}, rows, cut,
                                  low, median, rms)
            : robust_noise<double>({"robust_noise_float64", "robust_noise_of_short_rows_float64"}, rows, cut,
                                   low, median, rms);
    }
    return {low, median, rms};
}

std::tuple<at::Tensor, at::Tensor> capped_noise(const at::Tensor& low, const at::Tensor& median,
                                                const at::Tensor& rms, const std::optional<at::Tensor>& good,
                                                const std::optional<at::Tensor>& expected, double cap) {
    const at::Tensor lowest = low.contiguous(), middle = median.contiguous(), noise = rms.contiguous();
    const auto counted = good ? std::optional(good->contiguous()) : std::nullopt;
    const auto predicted = expected ? std::optional(expected->contiguous()) : std::nullopt;
    at::Tensor capped_median = at::empty_like(middle), capped_rms = at::empty_like(noise);
    rms.scalar_type() == at::kFloat
        ? capped_noise<float>("capped_noise_float32", lowest, middle, noise, counted, predicted, cap,
                              capped_median, capped_rms)
        : capped_noise<double>("capped_noise_float64", lowest, middle, noise, counted, predicted, cap,
                               capped_median, capped_rms);
    return {capped_median, capped_rms};
}

at::Tensor plain_rms(const at::Tensor& waveforms) {
    const bool empty = waveforms.numel() == 0 || waveforms.size(-1) < 2;
    at::Tensor rms = one_for_each_row(waveforms, empty);
    if (!empty) {
        const Rows rows = rows_of(waveforms, reduction_bytes);
        waveforms.scalar_type() == at::kFloat ? plain_rms<float>("plain_rms_float32", rows, rms)
                                              : plain_rms<double>("plain_rms_float64", rows, rms);
    }
    return rms;
}

} // namespace spng::kernels
