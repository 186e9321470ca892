// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/deconvolution.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/tensor_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/fft_fft.h>
#include <ATen/ops/fft_ifft.h>
#include <ATen/ops/fft_rfft.h>

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

} // namespace

at::Tensor deconvolution_kernel(const at::Tensor& response, const at::Tensor& wire_filter) {
    require_tensor(response.dim() == 2 && response.is_complex(), "deconvolution_kernel", "response", response,
                   "complex (channel, frequency)");
    require_tensor(wire_filter.dim() == 1 && wire_filter.size(0) == response.size(0), "deconvolution_kernel",
                   "wire_filter", wire_filter, "real (channel), as many channels as the response");
    return (wire_filter.unsqueeze(1) / response).masked_fill_(response == 0, 0);
}

at::Tensor deconvolve(const at::Tensor& waveforms, const at::Tensor& kernel) {
    require_tensor(waveforms.dim() == 3 && is_real(waveforms), "deconvolve", "waveforms", waveforms,
                   "real (view, channel, tick)");
    const std::int64_t channels = waveforms.size(1);
    require_tensor(kernel.dim() == 3 && kernel.is_complex() &&
                       (kernel.size(0) == 1 || kernel.size(0) == waveforms.size(0)) &&
                       kernel.size(1) >= channels && kernel.size(2) == waveforms.size(2) / 2 + 1,
                   "deconvolve", "kernel", kernel, "complex (view or 1, padded channel, tick / 2 + 1)");
    if (waveforms.numel() == 0) {
        return at::empty({waveforms.size(0), channels, kernel.size(2)}, kernel.options());
    }
    at::Tensor spectrum;
    {
        NVTX_SCOPED_RANGE("Decon::fft");
        spectrum = at::fft_fft(at::fft_rfft(waveforms), kernel.size(1), 1);
    }
    {
        NVTX_SCOPED_RANGE("Decon::multiply");
        spectrum.mul_(kernel);
    }
    NVTX_SCOPED_RANGE("Decon::ifft");
    return with_contiguous_rows(at::fft_ifft(spectrum, std::nullopt, 1)).narrow(1, 0, channels);
}

} // namespace spng
