// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGDrifter: drift depositions to the response planes of an anode.

#include "spng/graph/node.h"
#include "spng/nodes/sim/depos/drift.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spng {

struct DrifterConfig {
    std::string anode = "AnodePlane";
    std::vector<DriftVolumeConfig> volumes;
    double drift_speed = 0;
    double longitudinal_diffusion = 0;
    double transverse_diffusion = 0;
    double lifetime = 0;
    bool fluctuate = true;
    std::int64_t seed = 1;
    static constexpr auto fields() {
        using C = DrifterConfig;
        return std::make_tuple(
            field(&C::anode, "anode", "", not_empty(), "name of the AnodePlane component"),
            field(&C::volumes, "volumes", "", required(), "drift volumes of its faces"),
            field(&C::drift_speed, "drift_speed", "mm/ns", required(above(0)),
                  "drift speed of electrons in the electric field"),
            field(&C::longitudinal_diffusion, "longitudinal_diffusion", "mm2/ns", at_least(0),
                  "diffusion constant D_L along the drift")
                .or_wct("DL"),
            field(&C::transverse_diffusion, "transverse_diffusion", "mm2/ns", at_least(0),
                  "diffusion constant D_T across the drift")
                .or_wct("DT"),
            field(&C::lifetime, "lifetime", "ns", at_least(0),
                  "lifetime of drifting electrons; 0: no absorption"),
            field(&C::fluctuate, "fluctuate", "", any(), "draw the number of absorbed electrons"),
            field(&C::seed, "seed", "", at_least(0), "seed of the random numbers"));
    }
};

/// In: depositions (depositions.h). Out: depositions of this anode at its response planes (drift.h).
/// Depositions outside of its volumes are dropped, with one warning that gives their count. Random numbers
/// depend on the seed and the event's index in the job.
class Drifter : public NodeWith<DrifterConfig> {
protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    std::vector<DriftVolume> m_volumes;
};

} // namespace spng
