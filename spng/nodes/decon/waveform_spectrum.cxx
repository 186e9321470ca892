// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/waveform_spectrum.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/operator.h"
#include "spng/core/tensor_checks.h"
#include "spng/nodes/decon/baseline.h"

#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/zeros.h>

#include <string>

namespace spng {

at::Tensor waveform_spectrum_composite(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                       at::ScalarType type, const std::optional<at::Tensor>& good) {
    if (waveforms.numel() == 0) {
        auto shape = waveforms.sizes().vec();
        shape.back() = padded_ticks / 2 + 1;
        return at::zeros(shape, waveforms.options().dtype(c10::toComplexType(type)));
    }
    at::Tensor padded;
    {
        NVTX_SCOPED_RANGE("Decon::baseline");
        padded = subtract_baseline_and_pad(waveforms, padded_ticks, type, good);
    }
    NVTX_SCOPED_RANGE("Decon::rfft");
    return at::fft_rfft(padded);
}

static const Operator waveform_spectrum_op{
    "waveform_spectrum(Tensor waveforms, int padded_ticks, ScalarType type, Tensor? good) -> Tensor",
    waveform_spectrum_composite, kernels::waveform_spectrum};

at::Tensor waveform_spectrum(const at::Tensor& waveforms, std::int64_t padded_ticks, at::ScalarType type,
                             const std::optional<at::Tensor>& good) {
    const char* name = "waveform_spectrum";
    require_waveforms(name, waveforms, good);
    require_argument(padded_ticks >= waveforms.size(-1) && padded_ticks >= 1, name, "padded length",
                     padded_ticks,
                     "1 or more, and at least " + std::to_string(waveforms.size(-1)) + " ticks");
    require_argument(type == at::kFloat || type == at::kDouble, name, "type of the result",
                     static_cast<std::int64_t>(type), "float32 (6) or float64 (7)");
    return waveform_spectrum_op(waveforms, padded_ticks, type, good);
}

} // namespace spng
