// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/waveform_spectrum.h"

#include "spng/device/memory/aligned_rows.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/rows.h"
#include "spng/kernels/transforms/fft_plan.h"

namespace spng::kernels {
namespace {

template <class Sample, class Real>
void transform(const char* name, const Rows& rows, const bool* good, std::int64_t shared_bytes,
               const RealFftSize& size, at::Tensor& result) {
    const FftPlan plan =
        fft_plan(size.length(), FftUse::row, c10::CppTypeToScalarType<Real>::value, result.device());
    launch(name, result.device(), blocks_for(rows.rows, 1), shared_bytes, rows.data<Sample>(), rows.rows,
           rows.row_stride, rows.ticks, rows.tick_stride, good, static_cast<int>(rows.staged), plan.length,
           static_cast<int>(size.is_halved()), plan.radices, plan.twiddles<Real>(), plan.turns<Real>(),
           plan.positions(), result.mutable_data_ptr<c10::complex<Real>>(), result.stride(-2));
}

} // namespace

at::Tensor waveform_spectrum(const at::Tensor& waveforms, std::int64_t padded_ticks, at::ScalarType type,
                             const std::optional<at::Tensor>& good) {
    const RealFftSize size{padded_ticks};
    const auto complex_type = c10::toComplexType(type);
    const std::int64_t own_bytes =
        reduction_bytes + size.length() * static_cast<std::int64_t>(c10::elementSize(complex_type));
    if (waveforms.numel() == 0 || !can_transform(size.length(), FftUse::row, own_bytes, waveforms.device())) {
        return waveform_spectrum_composite(waveforms, padded_ticks, type, good);
    }
    if (waveforms.scalar_type() != at::kShort && waveforms.scalar_type() != type) {
        // Differences of float64 must not be rounded before; float32 is exact in float64.
        return waveform_spectrum(waveforms.to(at::kDouble), padded_ticks, at::kDouble, good).to(complex_type);
    }
    const Rows rows = rows_of(waveforms, own_bytes, shared_bytes_limit(waveforms.device()));
    auto shape = waveforms.sizes().vec();
    shape.back() = size.frequencies();
    at::Tensor result = empty_with_aligned_rows(shape, waveforms.options().dtype(complex_type));
    const at::Tensor flags = good ? good->contiguous() : at::Tensor();
    const bool* good_rows = good ? flags.const_data_ptr<bool>() : nullptr;
    const std::int64_t shared_bytes = own_bytes + rows.staged_bytes;
    const auto transform_rows = [&](auto kernel, const char* name) {
        kernel(name, rows, good_rows, shared_bytes, size, result);
    };
    if (waveforms.scalar_type() == at::kShort) {
        type == at::kFloat
            ? transform_rows(transform<std::int16_t, float>, "waveform_spectrum_int16_float32")
            : transform_rows(transform<std::int16_t, double>, "waveform_spectrum_int16_float64");
    } else {
        type == at::kFloat ? transform_rows(transform<float, float>, "waveform_spectrum_float32")
                           : transform_rows(transform<double, double>, "waveform_spectrum_float64");
    }
    return result;
}

} // namespace spng::kernels
