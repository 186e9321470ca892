#pragma once
// Shaping time of the electronics from the shape of single pulses.

#include "spng/detector/electronics_response.h"
#include "spng/detector/response_kernel.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace spng {

/// Pulses of a short piece of track as they would look with other shaping times, smeared by diffusion and the
/// track's slope (Gaussian, 0 to 1.6 us), at fractions of a tick.
class PulseShapes {
public:
    /// @param line         (1, sample) float64: field response of a plane summed over its wires: the current
    ///                     of charge spread evenly along the pitch direction; charges per ns and electron
    /// @param period       ns between its samples
    /// @param electronics  as described; shaping times are multiples of its own
    PulseShapes(const at::Tensor& line, double period, const ColdElectronics& electronics,
                const ResponseKernelConfig& config);

    /// Shaping time of one pulse over the described one, the best fit of all templates.
    /// @param shape  shape_ticks samples [sigma], as Pulse::shape
    /// @return nothing for a pulse that no template describes: overlapping tracks, a long pulse
    std::optional<double> shaping_ratio(const std::vector<float>& shape) const;

private:
    std::vector<float> m_templates; ///< (shaping, variant, sample), each of unit length
    std::int64_t m_variants = 0;
};

} // namespace spng
