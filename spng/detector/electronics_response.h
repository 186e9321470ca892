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

/// Output in mV/fC at `time` ns after a pulse of charge; 0 outside 0 < time < 10 us.
/// Formula: ../shared/docs/spng.md 5.2. The default electronics peaks with 14.000 mV/fC at 2.58 us.
double electronics_response(const ColdElectronics& electronics, double time);

/// -> (sample) float64, mV/fC at the bin centres (i + 1/2) period, period in ns.
at::Tensor sample_electronics_response(const ColdElectronics& electronics, double period,
                                       std::int64_t samples);

} // namespace spng
