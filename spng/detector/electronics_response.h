// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shape of the cold electronics: preamplifier and shaper.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

struct ColdElectronics {
    double gain = 14.0;    ///< mV/fC, peak of the response to a short pulse
    double shaping = 2200; ///< ns, nominal peaking time
    double postgain = 1.0; ///< factor of later stages
};

/// Return the output [mV/fC] at `time` [ns] after a short pulse of charge; 0 outside 0 < time < 10 us. The
/// default electronics peaks at 2.58 us with 14.000 mV/fC. Formula:
/// docs/physics-notes.md#electronics-response.
double electronics_response(const ColdElectronics& electronics, double time);

/// Return the response at the bin centres (i + 1/2) `period` [ns]: (sample) float64 [mV/fC].
at::Tensor sample_electronics_response(const ColdElectronics& electronics, double period,
                                       std::int64_t samples);

} // namespace spng
