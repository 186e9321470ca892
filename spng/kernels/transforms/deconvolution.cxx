// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/deconvolution.h"

#include "spng/device/memory/aligned_rows.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/transforms/fft_plan.h"

namespace spng::kernels {
namespace {

at::Tensor with_adjacent_frequencies(const at::Tensor& spectrum) {
    return spectrum.size(2) > 1 && spectrum.stride(2) != 1 ? spectrum.contiguous() : spectrum;
}

template <class Real>
void convolve(const char* name, const at::Tensor& spectrum, const at::Tensor& kernel, std::int64_t length,
              at::Tensor& result) {
    using Value = c10::complex<Real>;
    constexpr std::int64_t columns = tile_bytes / sizeof(Value);
    const std::int64_t views = spectrum.size(0), frequencies = spectrum.size(2);
    const FftPlan plan =
        fft_plan(length, FftUse::tile, c10::CppTypeToScalarType<Real>::value, result.device());
    launch(name, result.device(), blocks_for(views * ((frequencies + columns - 1) / columns), 1),
           length * tile_bytes, spectrum.const_data_ptr<Value>(), spectrum.stride(0), spectrum.stride(1),
           views, spectrum.size(1), frequencies, kernel.const_data_ptr<Value>(),
           kernel.size(0) == 1 ? std::int64_t{0} : kernel.stride(0), kernel.stride(1), kernel.size(1), length,
           plan.radices, plan.twiddles<Real>(), plan.frequencies(),
           static_cast<Real>(1.0 / static_cast<double>(length)), result.mutable_data_ptr<Value>(),
           result.stride(0), result.stride(1));
}

} // namespace

at::Tensor deconvolve(const at::Tensor& spectrum, const at::Tensor& kernel, std::int64_t length) {
    if (spectrum.numel() == 0 ||
        !can_transform(length, FftUse::tile, length * tile_bytes, spectrum.device())) {
        return deconvolve_composite(spectrum, kernel, length);
    }
    at::Tensor result = empty_with_aligned_rows(spectrum.sizes(), spectrum.options());
    const at::Tensor rows = with_adjacent_frequencies(spectrum), factors = with_adjacent_frequencies(kernel);
    if (spectrum.scalar_type() == at::kComplexFloat) {
        convolve<float>("deconvolve_float32", rows, factors, length, result);
    } else {
        convolve<double>("deconvolve_float64", rows, factors, length, result);
    }
    return result;
}

} // namespace spng::kernels
