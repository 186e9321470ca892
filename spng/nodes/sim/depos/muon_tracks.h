#pragma once
// Muons through a drift volume: their energy, their path, what they lose.

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
        return std::make_tuple(
            field(&C::directions, "directions", "", one_of("cosmic", "isotropic"),
                  "cosmic: from above (+y), cos^2 of the zenith angle; isotropic"),
            field(&C::delta_cut, "delta_cut", "MeV", above(0.02),
                  "electrons knocked on with more energy leave the track and are not simulated"),
            field(&C::recombination, "recombination", "", one_of("box", "birks"),
                  "modified box model of ArgoNeuT, or Birks' law of ICARUS"));
    }
};

struct Muon {
    Point3 place;
    Point3 direction; ///< unit vector
    double kinetic = 0;
};

/// Kinetic energy [MeV] of a muon at the surface: dN/dE ~ (E0 + E)^-n from 0.5 GeV on, E0 = 4.29 GeV, n =
/// 3.01, E the total energy (Shukla and Sankrith, Int. J. Mod. Phys. A 33 (2018) 1850175).
double cosmic_energy(RandomStream& random);

/// Downward (-y), dN/dOmega ~ cos^2 of the zenith angle, as the same paper has it (power n - 1).
Point3 cosmic_direction(RandomStream& random);

/// A muon at the border of the box, on its way in, whose straight continuation passes a uniform point of the
/// box.
Muon random_muon(RandomStream& random, const Box& box, const MuonConfig& config);

/// Steps until the muon leaves the box or stops. Each step: a random loss (muon_loss.h) in its middle, then a
/// random deflection in two planes. The last step before the stop deposits what is left; neither capture nor
/// decay follows.
/// @param start  ns
/// @param step   mm
EnergyDeposits muon_deposits(RandomStream& random, Muon muon, const Box& box, double start, double step,
                             double delta_cut);

} // namespace spng
