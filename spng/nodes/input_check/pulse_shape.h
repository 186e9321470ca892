// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimate of the shaping time of the electronics from the shape of single pulses.

#include "spng/detector/electronics_response.h"
#include "spng/detector/response_kernel.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace spng {

/// Templates of pulses from a short track segment: for several shaping times, smeared by diffusion and the
/// slope of the track (Gaussian, 0 to 1.6 us), and shifted by fractions of a tick.
class PulseShapes {
public:
    /// @param line         (1, sample) float64: field response of a plane summed over its wires, which is the
    ///                     current of charge spread evenly along the pitch direction [charge per ns and
    ///                     electron]
    /// @param period       sampling period of `line` [ns]
    /// @param electronics  described electronics; the templates have multiples of its shaping time
    PulseShapes(const at::Tensor& line, double period, const ColdElectronics& electronics,
                const ResponseKernelConfig& config);

    /// Return the shaping time of a pulse over the described one, from the template that fits best.
    /// @param shape  shape_ticks samples [sigma], see Pulse::shape
    /// @return nothing if no template fits, for example for overlapping tracks or a long pulse
    std::optional<double> shaping_ratio(const std::vector<float>& shape) const;

private:
    std::vector<float> m_templates; ///< (shaping, variant, sample), each with unit norm
    std::int64_t m_variants = 0;
};

} // namespace spng
