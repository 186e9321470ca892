// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/waveform_spectrum.h"

#include "spng/device/memory/aligned_rows.h"
#include "spng/kernels/fft_plan.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/operators.h"
#include "spng/kernels/rows.h"

#include <type_traits>

namespace spng::kernels {
namespace {

template <class Sample, class Real>
constexpr const char* kernel_name() {
    constexpr bool wide = std::is_same_v<Real, double>;
    if constexpr (std::is_same_v<Sample, std::int16_t>) {
        return wide ? "waveform_spectrum_int16_float64" : "waveform_spectrum_int16_float32";
    } else if constexpr (std::is_same_v<Sample, float>) {
        return wide ? "waveform_spectrum_float32_float64" : "waveform_spectrum_float32_float32";
    } else {
        return wide ? "waveform_spectrum_float64_float64" : "waveform_spectrum_float64_float32";
    }
}

template <class Sample, class Real>
void transform(const Rows& rows, const bool* good, std::int64_t shared_bytes, const RealFftSize& size,
               at::Tensor& result) {
    const FftPlan plan = fft_plan(size.length(), c10::CppTypeToScalarType<Real>::value, result.device());
    launch(kernel_name<Sample, Real>(), result.device(), blocks_for(rows.rows, 1), shared_bytes,
           rows.data<Sample>(), rows.rows, rows.row_stride, rows.ticks, rows.tick_stride, good,
           static_cast<int>(rows.staged), plan.length, static_cast<int>(size.is_halved()), plan.radices,
           plan.twiddles<Real>(), plan.turns<Real>(), plan.positions(),
           result.mutable_data_ptr<c10::complex<Real>>(), result.stride(-2));
}

template <class Sample, class... Arguments>
void transform(at::ScalarType type, Arguments&&... arguments) {
    type == at::kFloat ? transform<Sample, float>(arguments...) : transform<Sample, double>(arguments...);
}

} // namespace

at::Tensor waveform_spectrum(const at::Tensor& waveforms, std::int64_t padded_ticks, at::ScalarType type,
                             const std::optional<at::Tensor>& good) {
    const RealFftSize size{padded_ticks};
    const auto complex_type = c10::toComplexType(type);
    const std::int64_t own_bytes =
        reduction_bytes + size.length() * static_cast<std::int64_t>(c10::elementSize(complex_type));
    if (waveforms.numel() == 0 || !can_transform(size.length(), own_bytes, waveforms.device())) {
        return waveform_spectrum_composite(waveforms, padded_ticks, type, good);
    }
    const Rows rows = rows_of(waveforms, own_bytes, shared_bytes_limit(waveforms.device()));
    auto shape = waveforms.sizes().vec();
    shape.back() = size.frequencies();
    at::Tensor result = empty_with_aligned_rows(shape, waveforms.options().dtype(complex_type));
    const at::Tensor flags = good ? good->contiguous() : at::Tensor();
    const bool* good_rows = good ? flags.const_data_ptr<bool>() : nullptr;
    const std::int64_t shared_bytes = own_bytes + rows.staged_bytes;
    switch (waveforms.scalar_type()) {
    case at::kShort:
        transform<std::int16_t>(type, rows, good_rows, shared_bytes, size, result);
        break;
    case at::kFloat:
        transform<float>(type, rows, good_rows, shared_bytes, size, result);
        break;
    default:
        transform<double>(type, rows, good_rows, shared_bytes, size, result);
        break;
    }
    return result;
}

} // namespace spng::kernels
