#pragma once
// Digitised waveforms that one electron leaves on the wires around it: field response, electronics and
// digitiser.

#include "spng/detector/electronics_response.h"

#include <ATen/core/Tensor.h>

namespace spng {

struct ResponseKernelConfig {
    double tick = 500;                   ///< ns between ADC samples
    double electronics_duration = 50000; ///< ns for which the electronics response is sampled
    double lsb = 1.4 / 16384;            ///< V per ADC count
};

/// `average` (wire, sample) electron charges per ns, every `period` ns -> (wire, tick) float64, ADC counts
/// per electron, first tick when the electron leaves the response plane. Positive for collected charge.
///
/// Linear convolution in steps of `period`, then Fourier resampling to ticks (../shared/docs/spng.md 5.3,
/// with the fine time step and the padded length). The length is that of the convolution, rounded up to whole
/// ticks: 1000 samples of 100 ns give 300 ticks of 500 ns. Throws Error(Configuration) for periods without a
/// useful common multiple and an lsb that is not positive.
at::Tensor response_kernel(const at::Tensor& average, double period, const ColdElectronics& electronics,
                           const ResponseKernelConfig& config);

} // namespace spng
