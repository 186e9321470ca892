// SPDX-License-Identifier: Apache-2.0
#pragma once
// Drift of charge from its release to the response plane: time, absorption, diffusion.

#include "spng/nodes/sim/depos/depositions.h"
#include "spng/nodes/sim/depos/drift_volume.h"

#include <cstdint>
#include <vector>

namespace spng {

struct DriftSettings {
    double speed = 0;                  ///< mm/ns
    double longitudinal_diffusion = 0; ///< mm2/ns
    double transverse_diffusion = 0;   ///< mm2/ns
    double lifetime = 0;               ///< ns; 0: no absorption
    bool fluctuate = false;            ///< true: draw the number of absorbed electrons; false: use its mean
};

struct DriftedDepositions {
    Depositions depositions;  ///< at the response planes, in order of arrival
    std::int64_t outside = 0; ///< number of dropped depositions
};

/// Move each deposition along x to the response plane of the volume that contains it (edges included). With
/// dt = distance / speed
///   t' = t + dt,  q' = q exp(-dt / lifetime),  sigma_L'^2 = sigma_L^2 + 2 D_L dt,  and the same for sigma_T.
/// With fluctuations, a binomial number of its electrons is absorbed. Charge between the response plane and
/// the wires is moved back to the response plane: dt is negative, without absorption and diffusion, so that
/// the field response brings it to the wires at the right time. These are the conventions of WCT's Drifter,
/// confirmed with its file of drifted depositions (docs/simulation.md). Depositions outside of all volumes,
/// or not finite, are dropped and counted.
/// @param depositions  float64, on any device
/// @param seed         random numbers depend on `seed` and the column only
DriftedDepositions drift(const Depositions& depositions, const std::vector<DriftVolume>& volumes,
                         const DriftSettings& settings, std::uint64_t seed);

} // namespace spng
