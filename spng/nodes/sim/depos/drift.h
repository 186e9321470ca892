#pragma once
// From where charge was set free to the response plane: time, absorption,
// diffusion.

#include "spng/nodes/sim/depos/depositions.h"
#include "spng/nodes/sim/depos/drift_volume.h"

#include <cstdint>
#include <vector>

namespace spng {

struct DriftSettings {
    double speed = 0;                  ///< mm/ns
    double longitudinal_diffusion = 0; ///< mm2/ns
    double transverse_diffusion = 0;   ///< mm2/ns
    double lifetime = 0;               ///< ns; 0: nothing is absorbed
    bool fluctuate = false;            ///< the number of absorbed electrons is drawn, else it is its mean
};

struct DriftedDepositions {
    Depositions depositions; ///< at the response planes, in order of arrival
    std::int64_t outside = 0;
};

/// Each deposition moves along x to the response plane of the volume it lies in
/// (edges included). With dt = distance / speed
///   t' = t + dt,  q' = q exp(-dt / lifetime),  sigma_L'^2 = sigma_L^2 + 2 D_L
///   dt,  sigma_T'^2 likewise;
/// fluctuations take a binomial number of its whole electrons away. Between the
/// response plane and the wires charge is moved back to the response plane: dt
/// is below 0, and it neither loses nor spreads, so that what the field
/// response adds from there brings it to the wires in time. These are the
/// conventions of the field's Drifter, which its file of drifted depositions
/// confirms (docs/simulation.md). What lies outside of all volumes, or is not
/// finite, is left out and counted. Tensors on any device, float64; random
/// numbers depend on `seed` and the column only.
DriftedDepositions drift(const Depositions& depositions, const std::vector<DriftVolume>& volumes,
                         const DriftSettings& settings, std::uint64_t seed);

} // namespace spng
