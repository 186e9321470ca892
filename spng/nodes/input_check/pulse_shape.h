// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimate of the shaping time of the electronics from the shapes of many pulses (docs/decisions/input-check.md).

#include "spng/detector/electronics/electronics_response.h"
#include "spng/detector/field_response.h"
#include "spng/detector/response_kernel.h"
#include "spng/nodes/input_check/channel_pulses.h"

#include <array>
#include <cstdint>
#include <vector>

namespace spng {

/// Templates of pulses from straight tracks on a plane that collects, for several shaping times, slopes of the track,
/// widths of diffusion and fractions of a tick.
class PulseShapes {
public:
    /// @param plane        field response of the plane
    /// @param period       sampling period of the field response [ns]
    /// @param electronics  described electronics; the templates have multiples of its shaping time
    PulseShapes(const PlaneResponse& plane, double period, const Electronics& electronics,
                const ResponseKernelConfig& config);

    struct Estimate {
        double ratio = 0;       ///< shaping time over the described one
        std::size_t pulses = 0; ///< that fit and whose track is not steep: the estimate is made from them
    };
    /// Return the shaping time that describes the pulses best. Each pulse has its own amplitude, time, slope, diffusion
    /// and linear baseline; all share the shaping time.
    /// @param shapes           each has shape_ticks samples [sigma], see Pulse::shape
    /// @param autocorrelation  of the noise; all zeros: white noise
    Estimate estimate(const std::vector<std::vector<float>>& shapes,
                      const Autocorrelation& autocorrelation) const;

private:
    std::vector<float> m_templates; ///< (shaping, variant, tick), a variant is (slope, diffusion, shift)
};

} // namespace spng
