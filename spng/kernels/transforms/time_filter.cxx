// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/filter/time_filter.h"

#include "spng/kernels/launch.h"
#include "spng/kernels/transforms/fft_plan.h"

#include <ATen/ops/empty.h>

namespace spng::kernels {
namespace {

template <class Real>
void filter_rows(const char* name, const at::Tensor& spectrum, const at::Tensor& filter,
                 const RealFftSize& size, at::Tensor& result) {
    using Value = c10::complex<Real>;
    const std::int64_t channels = spectrum.size(1), rows = spectrum.size(0) * channels;
    const FftPlan plan =
        fft_plan(size.length(), FftUse::row, c10::CppTypeToScalarType<Real>::value, result.device());
    launch(name, result.device(), blocks_for(rows, 1), plan.length * static_cast<std::int64_t>(sizeof(Value)),
           spectrum.const_data_ptr<Value>(), rows, channels, spectrum.stride(0), spectrum.stride(1),
           filter.const_data_ptr<Value>(), filter.size(0) == 1 ? std::int64_t{0} : filter.stride(0),
           plan.length, static_cast<int>(size.is_halved()), plan.radices, plan.twiddles<Real>(),
           plan.turns<Real>(), plan.positions(), static_cast<Real>(1.0 / static_cast<double>(size.samples)),
           result.mutable_data_ptr<Real>(), result.size(2));
}

} // namespace

at::Tensor apply_time_filter(const at::Tensor& spectrum, const at::Tensor& filter, std::int64_t length,
                             std::int64_t samples) {
    const RealFftSize size{length};
    const auto bytes = size.length() * static_cast<std::int64_t>(spectrum.element_size());
    if (spectrum.numel() == 0 || samples == 0 ||
        !can_transform(size.length(), FftUse::row, bytes, spectrum.device())) {
        return apply_time_filter_composite(spectrum, filter, length, samples);
    }
    at::Tensor result = at::empty({spectrum.size(0), spectrum.size(1), samples},
                                  spectrum.options().dtype(c10::toRealValueType(spectrum.scalar_type())));
    const at::Tensor rows =
        spectrum.size(2) > 1 && spectrum.stride(2) != 1 ? spectrum.contiguous() : spectrum;
    const at::Tensor factors = filter.contiguous();
    if (spectrum.scalar_type() == at::kComplexFloat) {
        filter_rows<float>("apply_time_filter_float32", rows, factors, size, result);
    } else {
        filter_rows<double>("apply_time_filter_float64", rows, factors, size, result);
    }
    return result;
}

} // namespace spng::kernels
