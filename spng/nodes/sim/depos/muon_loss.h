// SPDX-License-Identifier: Apache-2.0
#pragma once
// Energy loss and scattering of muons in liquid argon. Formulas and constants: Particle Data Group (PDG),
// "Passage of particles through matter" (Phys. Rev. D 110 (2024) 030001, section 34), and its table of muons
// in liquid argon. Energies in MeV, lengths in mm.

#include "spng/nodes/sim/random_stream.h"

namespace spng {

inline constexpr double muon_mass = 105.6583755; // MeV

/// Kinematics of a muon.
struct MuonMotion {
    /// @param kinetic  kinetic energy, above 0
    explicit MuonMotion(double kinetic);
    double beta_squared;
    double gamma;
    double momentum; ///< MeV/c

    double beta_gamma_squared() const { return beta_squared * gamma * gamma; }
    /// Largest energy transfer to an electron in one collision (PDG 34.4).
    double largest_transfer() const;
};

/// Mean loss per mm from collisions with transfers below `cut`: restricted Bethe formula (PDG 34.12) with the
/// density effect of Sternheimer's parameters. A cut of largest_transfer() or more gives the Bethe formula.
double mean_loss(const MuonMotion& muon, double cut);

/// Width parameter xi of the loss over a length (PDG 34.13).
double landau_width(const MuonMotion& muon, double length);

/// Most probable value (MPV) of the loss over a length (PDG 34.12: Landau, Vavilov, Bichsel).
double loss_mpv(const MuonMotion& muon, double length);

/// Draw a number from Landau's distribution, with the most probable value -0.2228. It is the stable
/// distribution of index 1 and skewness 1, drawn with the formula of Chambers, Mallows and Stuck (J. Am.
/// Stat. Assoc. 71 (1976) 340).
double landau(RandomStream& random);

/// Draw the loss over a length, without collisions above `cut`, from Landau's distribution about the most
/// probable loss, with the spin factor of single collisions, cut off where its mean is mean_loss(). If xi is
/// above a tenth of the cut, single collisions hardly change the loss (the last mm of a track); then draw
/// from a gamma distribution with mean and variance of Vavilov's distribution.
double random_loss(RandomStream& random, const MuonMotion& muon, double length, double cut);

/// Standard deviation of the deflection in one plane over a length [radian]: 13.6 MeV / (beta c p)
/// sqrt(length / X0), X0 = 140 mm. Highland's logarithm is omitted, so that the deflection of a track does
/// not depend on the length of its steps. It is 0 at one radiation length and +-9 % at a tenth or ten times
/// of it.
double scattering_angle(const MuonMotion& muon, double length);

} // namespace spng
