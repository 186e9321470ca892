// SPDX-License-Identifier: Apache-2.0
#pragma once
// Muons through a drift volume: energy, path and energy loss.

#include "spng/core/field.h"
#include "spng/nodes/sim/depos/energy_deposits.h"
#include "spng/nodes/sim/random_stream.h"

#include <string>

namespace spng {

struct MuonConfig {
    std::string directions = "cosmic";
    double delta_cut = 3;
    std::string recombination = "box";
    static constexpr auto fields() {
        using C = MuonConfig;
        return std::make_tuple(field(&C::directions, "directions", "", one_of("cosmic", "isotropic"),
                                     "cosmic: from above (+y), cos^2 of the zenith angle; isotropic"),
                               field(&C::delta_cut, "delta_cut", "MeV", above(0.02),
                                     "delta rays above this energy leave the track and are not simulated"),
                               field(&C::recombination, "recombination", "", one_of("box", "birks"),
                                     "box: modified box model of ArgoNeuT; birks: Birks' law of ICARUS"));
    }
};

struct Muon {
    Point3 position;
    Point3 direction; ///< unit vector
    double kinetic = 0;
};

/// Draw the kinetic energy of a muon at the surface [MeV]: dN/dE ~ (E0 + E)^-n above 0.5 GeV, with E0 = 4.29
/// GeV, n = 3.01 and the total energy E (Shukla and Sankrith, Int. J. Mod. Phys. A 33 (2018) 1850175).
double cosmic_energy(RandomStream& random);

/// Draw a downward direction (-y): dN/dOmega ~ cos^2 of the zenith angle, as in the same paper (power n - 1).
Point3 cosmic_direction(RandomStream& random);

/// Draw a muon that enters the box at its border. The straight continuation passes through a uniform point of
/// the box.
Muon random_muon(RandomStream& random, const Box& box, const MuonConfig& config);

/// Simulate steps until the muon leaves the box or stops. Each step has a random loss (muon_loss.h) in its
/// middle, then a random deflection in two planes. The last step before the stop deposits the remaining
/// energy. Capture and decay are not simulated.
/// @param start  time of the first step [ns]
/// @param step   length of a step [mm]
EnergyDeposits muon_deposits(RandomStream& random, Muon muon, const Box& box, double start, double step,
                             double delta_cut);

} // namespace spng
