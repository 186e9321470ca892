// SPDX-License-Identifier: Apache-2.0
#pragma once
// Response kernel: the digitised waveforms of one electron on the wires around it, from field response,
// electronics and digitiser.

#include "spng/detector/electronics/electronics_response.h"

#include <ATen/core/Tensor.h>

namespace spng {

struct ResponseKernelConfig {
    double tick = 500;                   ///< sampling period of the ADC [ns]
    double electronics_duration = 50000; ///< length of the sampled electronics response [ns]
    double lsb = 1.4 / 16384;            ///< [V / ADC count]
};

/// Compute the response kernel: a linear convolution in steps of `period`, then Fourier resampling to ticks
/// (docs/physics-notes.md#frer-spectrum). The length is that of the convolution, rounded up to whole ticks:
/// 1000 samples of 100 ns give 300 ticks of 500 ns.
/// @param average  (wire, sample) [electron charges / ns]
/// @param period   of the samples [ns]
/// @return (wire, tick) float64 [ADC counts / electron], positive for collected charge. Tick 0 is when the
/// electron leaves the response plane.
/// @throws Error(Configuration) for periods without a useful common multiple, and an lsb that is not positive
at::Tensor response_kernel(const at::Tensor& average, double period, const Electronics& electronics,
                           const ResponseKernelConfig& config);

} // namespace spng
