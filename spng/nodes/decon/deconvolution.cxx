// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/deconvolution.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/operator.h"
#include "spng/core/tensor_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/fft_fft.h>
#include <ATen/ops/fft_ifft.h>

namespace spng {
namespace {

/// Make the rows contiguous. A transform along channels leaves channels contiguous in memory, and every
/// filter along ticks would transpose the result again. ATen has a fast blocked transposition for matrices of
/// real numbers only, so each complex64 is copied as one 8-byte value.
at::Tensor with_contiguous_rows(const at::Tensor& spectrum) {
    if (spectrum.is_contiguous()) {
        return spectrum;
    }
    at::Tensor transposed = at::empty(spectrum.sizes(), spectrum.options());
    const auto as_real = [](const at::Tensor& tensor) {
        return tensor.scalar_type() == at::kComplexFloat ? tensor.view(at::kDouble) : tensor;
    };
    for (std::int64_t view = 0; view < spectrum.size(0); ++view) {
        as_real(transposed.select(0, view)).copy_(as_real(spectrum.select(0, view)));
    }
    return transposed;
}

std::int64_t rows_of_half(std::int64_t padded_channels) {
    return padded_channels / 2 + 1;
}

/// Add the rows that a symmetric kernel lacks.
at::Tensor with_all_rows(const at::Tensor& kernel, std::int64_t padded_channels) {
    const std::int64_t missing = padded_channels - kernel.size(1);
    return missing == 0 ? kernel : at::cat({kernel, kernel.narrow(1, 1, missing).flip(1)}, 1);
}

} // namespace

at::Tensor deconvolution_kernel(const at::Tensor& response, const at::Tensor& wire_filter) {
    require_tensor(response.dim() == 2 && response.is_complex(), "deconvolution_kernel", "response", response,
                   "complex (channel, frequency)");
    require_tensor(wire_filter.dim() == 1 && wire_filter.size(0) == response.size(0), "deconvolution_kernel",
                   "wire_filter", wire_filter, "real (channel), as many channels as the response");
    return (wire_filter.unsqueeze(1) / response).masked_fill_(response == 0, 0);
}

at::Tensor deconvolve_composite(const at::Tensor& spectrum, const at::Tensor& kernel,
                                std::int64_t padded_channels) {
    if (spectrum.numel() == 0) {
        return at::empty(spectrum.sizes(), spectrum.options());
    }
    at::Tensor transformed;
    {
        NVTX_SCOPED_RANGE("Decon::fft");
        transformed = at::fft_fft(spectrum, padded_channels, 1);
    }
    {
        NVTX_SCOPED_RANGE("Decon::multiply");
        transformed.mul_(with_all_rows(kernel, padded_channels));
    }
    NVTX_SCOPED_RANGE("Decon::ifft");
    return with_contiguous_rows(at::fft_ifft(transformed, std::nullopt, 1)).narrow(1, 0, spectrum.size(1));
}

static const Operator deconvolve_op{
    "deconvolve(Tensor spectrum, Tensor kernel, int padded_channels) -> Tensor", deconvolve_composite,
    kernels::deconvolve};

at::Tensor deconvolve(const at::Tensor& spectrum, const at::Tensor& kernel, std::int64_t padded_channels) {
    require_tensor(spectrum.dim() == 3 && spectrum.is_complex(), "deconvolve", "spectrum", spectrum,
                   "complex (view, channel, frequency)");
    require_tensor(
        kernel.dim() == 3 && kernel.scalar_type() == spectrum.scalar_type() &&
            (kernel.size(0) == 1 || kernel.size(0) == spectrum.size(0)) &&
            (kernel.size(1) == padded_channels || kernel.size(1) == rows_of_half(padded_channels)) &&
            kernel.size(2) == spectrum.size(2),
        "deconvolve", "kernel", kernel,
        "of the spectrum's type (view or 1, padded channel or the first half of them, frequency)");
    require_argument(padded_channels >= spectrum.size(1), "deconvolve", "padded channels", padded_channels,
                     "at least the channels of the spectrum");
    return deconvolve_op(spectrum, kernel, padded_channels);
}

} // namespace spng
