// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/filter/time_filter.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/operator.h"
#include "spng/core/tensor_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/fft_irfft.h>

#include <complex>
#include <numbers>

namespace spng {

at::Tensor time_filter(const at::Tensor& filter, std::int64_t padded_ticks, std::int64_t roll,
                       std::int64_t rebin) {
    require_argument(rebin >= 1 && padded_ticks % rebin == 0, "time_filter", "rebin", rebin,
                     "a divisor of the padded ticks");
    require_tensor(filter.dim() == 1 && filter.scalar_type() == at::kDouble &&
                       filter.size(0) == padded_ticks / 2 + 1,
                   "time_filter", "filter", filter, "float64 (padded ticks / 2 + 1)");
    const std::int64_t bins = padded_ticks / rebin / 2 + 1;
    at::Tensor result = at::empty({bins}, at::kComplexDouble);
    auto* out = result.mutable_data_ptr<c10::complex<double>>();
    const auto* values = filter.const_data_ptr<double>();
    for (std::int64_t k = 0; k < bins; ++k) {
        const double angle =
            2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(padded_ticks);
        std::complex<double> mean = 0;
        for (std::int64_t j = 0; j < rebin; ++j) {
            mean += std::polar(1.0, angle * static_cast<double>(j));
        }
        // One factor 1 / rebin belongs to the mean, the other normalises a transform of N / rebin samples.
        const auto shifted = values[k] * std::polar(1.0, -angle * static_cast<double>(roll)) * mean /
                             static_cast<double>(rebin * rebin);
        out[k] = {shifted.real(), shifted.imag()};
    }
    return result;
}

at::Tensor apply_time_filter_composite(const at::Tensor& spectrum, const at::Tensor& filter,
                                       std::int64_t length, std::int64_t samples) {
    if (spectrum.numel() == 0) {
        return at::empty({spectrum.size(0), spectrum.size(1), samples},
                         spectrum.options().dtype(c10::toRealValueType(spectrum.scalar_type())));
    }
    at::Tensor filtered;
    {
        NVTX_SCOPED_RANGE("Apply1DSpectrum::filter");
        filtered = spectrum.narrow(2, 0, length / 2 + 1) * filter;
    }
    NVTX_SCOPED_RANGE("Apply1DSpectrum::ifft");
    return at::fft_irfft(filtered, length, 2).narrow(2, 0, samples);
}

static const Operator apply_time_filter_op{
    "apply_time_filter(Tensor spectrum, Tensor filter, int length, int samples) -> Tensor",
    apply_time_filter_composite, kernels::apply_time_filter};

at::Tensor apply_time_filter(const at::Tensor& spectrum, const at::Tensor& filter, std::int64_t length,
                             std::int64_t samples) {
    const std::int64_t bins = length / 2 + 1;
    require_tensor(spectrum.dim() == 3 && spectrum.is_complex() && spectrum.size(2) >= bins,
                   "apply_time_filter", "spectrum", spectrum,
                   "complex (view, channel, frequency), at least length / 2 + 1 frequencies");
    require_tensor(
        filter.dim() == 3 && filter.scalar_type() == spectrum.scalar_type() && filter.size(2) == bins &&
            filter.size(1) == 1 && (filter.size(0) == 1 || filter.size(0) == spectrum.size(0)),
        "apply_time_filter", "filter", filter, "of the spectrum's type (view or 1, 1, length / 2 + 1)");
    require_argument(samples >= 0 && samples <= length, "apply_time_filter", "samples", samples,
                     "0 to length");
    return apply_time_filter_op(spectrum.narrow(2, 0, bins), filter, length, samples);
}

} // namespace spng
