// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/muon_loss.h"

#include "spng/nodes/sim/depos/recombination.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spng {
namespace {

constexpr double electron_mass = 0.51099895;     // MeV
constexpr double excitation_energy = 188.0e-6;   // MeV, I of argon
constexpr double charge_per_mass = 18.0 / 39.95; // Z/A, mol/g
constexpr double bethe_constant = 0.307075;      // MeV cm2/mol
constexpr double radiation_length = 140.0;       // mm, 19.55 g/cm2
constexpr double landau_mode = -0.22278;
constexpr double bichsel_j = 0.200;

// Largest xi / cut for Landau's distribution of the losses of a step.
constexpr double landau_limit = 0.1;

/// Z/A K rho / 2, MeV/mm.
constexpr double rutherford = 0.5 * bethe_constant * charge_per_mass * argon_density / 10;

/// Sternheimer, Berger and Seltzer, At. Data Nucl. Data Tables 30 (1984) 261: liquid argon.
double density_effect(const MuonMotion& muon) {
    constexpr double a = 0.19559, k = 3.0, x0 = 0.2, x1 = 3.0, c = 5.2146;
    const double x = 0.5 * std::log10(muon.beta_gamma_squared());
    if (x < x0) {
        return 0;
    }
    const double high = 2 * std::numbers::ln10 * x - c;
    return x >= x1 ? high : high + a * std::pow(x1 - x, k);
}

/// Marsaglia and Tsang 2000.
double gamma_number(RandomStream& random, double shape) {
    if (shape < 1) {
        return gamma_number(random, shape + 1) * std::pow(random.uniform(), 1 / shape);
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = random.normal(), v = std::pow(1 + c * x, 3);
        if (v > 0 && std::log(random.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
            return d * v;
        }
    }
}

} // namespace

MuonMotion::MuonMotion(double kinetic)
    : gamma(1 + kinetic / muon_mass), momentum(std::sqrt(kinetic * (kinetic + 2 * muon_mass))) {
    beta_squared = 1 - 1 / (gamma * gamma);
}

double MuonMotion::largest_transfer() const {
    constexpr double ratio = electron_mass / muon_mass;
    return 2 * electron_mass * beta_gamma_squared() / (1 + 2 * gamma * ratio + ratio * ratio);
}

double mean_loss(const MuonMotion& muon, double cut) {
    const double largest = muon.largest_transfer(), limit = std::min(cut, largest);
    const double logarithm = std::log(2 * electron_mass * muon.beta_gamma_squared() * limit /
                                      (excitation_energy * excitation_energy));
    const double bracket = logarithm - muon.beta_squared * (1 + limit / largest) - density_effect(muon);
    return rutherford / muon.beta_squared * std::max(bracket, 0.0);
}

double landau_width(const MuonMotion& muon, double length) {
    return rutherford * length / muon.beta_squared;
}

double loss_mpv(const MuonMotion& muon, double length) {
    const double width = landau_width(muon, length);
    return width *
           (std::log(2 * electron_mass * muon.beta_gamma_squared() / excitation_energy) +
            std::log(width / excitation_energy) + bichsel_j - muon.beta_squared - density_effect(muon));
}

double landau(RandomStream& random) {
    const double angle = std::numbers::pi * (random.uniform() - 0.5);
    const double exponential = -std::log(random.uniform());
    const double shifted = 0.5 * std::numbers::pi + angle;
    return shifted * std::tan(angle) - std::log(exponential * std::cos(angle) / shifted);
}

double random_loss(RandomStream& random, const MuonMotion& muon, double length, double cut) {
    const double largest = muon.largest_transfer(), limit = std::min(cut, largest);
    const double width = landau_width(muon, length);
    if (width > landau_limit * limit) {
        const double mean = mean_loss(muon, cut) * length;
        const double variance = width * limit * (1 - 0.5 * muon.beta_squared * limit / largest);
        return mean > 0 ? gamma_number(random, mean * mean / variance) * variance / mean : 0;
    }
    const double probable = loss_mpv(muon, length), above = limit / width;
    for (;;) {
        const double shift = landau(random) - landau_mode, loss = probable + width * shift;
        // A loss far above the most probable one comes from a single collision. These are rarer than in
        // Landau's distribution, by the factor 1 - beta^2 E / Wmax.
        const double likely = 1 - muon.beta_squared * width * std::max(shift, 0.0) / largest;
        if (shift <= above && loss >= 0 && random.uniform() < likely) {
            return loss;
        }
    }
}

double scattering_angle(const MuonMotion& muon, double length) {
    return 13.6 / (std::sqrt(muon.beta_squared) * muon.momentum) * std::sqrt(length / radiation_length);
}

} // namespace spng
