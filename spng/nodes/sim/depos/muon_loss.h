#pragma once
// What a muon loses in liquid argon, and how it is scattered. Formulas and constants: Particle Data Group,
// "Passage of particles through matter" (Phys. Rev. D 110 (2024) 030001, section 34) and its table of muons
// in liquid argon. Energies in MeV, lengths in mm.

#include "spng/nodes/sim/random_stream.h"

namespace spng {

inline constexpr double muon_mass = 105.6583755; // MeV

/// v/c, gamma and momentum of a muon with this kinetic energy (above 0).
struct MuonMotion {
    explicit MuonMotion(double kinetic);
    double beta_squared;
    double gamma;
    double momentum; ///< MeV/c

    double beta_gamma_squared() const { return beta_squared * gamma * gamma; }
    /// Largest energy that one collision gives to an electron (PDG 34.4).
    double largest_transfer() const;
};

/// Mean loss per mm to collisions that transfer less than `cut` (restricted Bethe formula, PDG 34.12, with
/// the density effect of Sternheimer's parameters). cut at or above largest_transfer(): the Bethe formula.
double mean_loss(const MuonMotion& muon, double cut);

/// Width parameter xi of the loss over a length (PDG 34.13).
double landau_width(const MuonMotion& muon, double length);

/// Most probable loss over a length (PDG 34.12: Landau, Vavilov, Bichsel).
double most_probable_loss(const MuonMotion& muon, double length);

/// A number with Landau's distribution, most probable value -0.2228. It is the stable distribution of index 1
/// and skewness 1, drawn with the formula of Chambers, Mallows and Stuck (J. Am. Stat. Assoc. 71 (1976) 340).
double landau(RandomStream& random);

/// A loss over a length, without collisions above `cut`: Landau's distribution about the most probable loss,
/// with the spin factor of single collisions, cut off where its mean is mean_loss(). Where a single collision
/// can no longer change the loss by much, xi above a tenth of the cut (the last mm of a track), the
/// distribution is a gamma distribution with the mean and variance of Vavilov's.
double random_loss(RandomStream& random, const MuonMotion& muon, double length, double cut);

/// Standard deviation of the deflection in one plane over a length, in radian: 13.6 MeV / (beta c p)
/// sqrt(length / X0), X0 = 140 mm. Highland's logarithm, 0 at one radiation length and +-9 % a factor of ten
/// off, is left out so that the deflection of a track does not depend on the length of its steps.
double scattering_angle(const MuonMotion& muon, double length);

} // namespace spng
