// SPDX-License-Identifier: Apache-2.0
// Energy loss, scattering and recombination in liquid argon, against published values.

#include "spng/nodes/sim/depos/muon_loss.h"
#include "spng/nodes/sim/depos/muon_tracks.h"
#include "spng/nodes/sim/depos/recombination.h"
#include "spng/nodes/sim/depos/straight_tracks.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace spng {
namespace {

double kinetic_of_momentum(double momentum) {
    return std::hypot(momentum, muon_mass) - muon_mass;
}

/// Minimum ionisation in liquid argon: 266 MeV of kinetic energy (PDG table of muons).
constexpr double minimum_ionising = 266;
constexpr double no_cut = 1e9;

TEST(MuonLoss, BetheFormulaAsInTheTable) {
    // dE/dx by ionisation [MeV cm2/g], Particle Data Group, table "Muons in liquid argon".
    struct Entry {
        double kinetic, loss;
    };
    for (const auto& [kinetic, loss] :
         {Entry{10, 5.687}, Entry{minimum_ionising, 1.508}, Entry{1000, 1.641}}) {
        EXPECT_NEAR(mean_loss(MuonMotion(kinetic), no_cut) * 10 / argon_density / loss, 1, 0.003) << kinetic;
    }
    EXPECT_NEAR(mean_loss(MuonMotion(minimum_ionising), no_cut) * 10, 2.1, 0.02); // MeV/cm
}

TEST(MuonLoss, MostProbableLossOfACentimetre) {
    // xi [MeV] (ln(2 m beta^2 gamma^2 / I) + ln(xi / I) + j - beta^2 - delta)
    EXPECT_NEAR(loss_mpv(MuonMotion(minimum_ionising), 10),
                0.10506 * (11.0321 + 6.3259 + 0.2 - 0.9192 - 0.1714), 1e-3);
    EXPECT_NEAR(loss_mpv(MuonMotion(minimum_ionising), 10), 1.7, 0.05);
    // It increases faster than the length: Delta_p / x increases by xi / x ln 10 per factor of ten.
    const MuonMotion muon(minimum_ionising);
    EXPECT_NEAR(loss_mpv(muon, 100) / 10 - loss_mpv(muon, 10), landau_width(muon, 10) * std::log(10.0), 1e-9);
}

TEST(MuonLoss, LandausDistribution) {
    constexpr int n = 200000;
    RandomStream random(1);
    std::vector<double> values(n);
    for (double& value : values) {
        value = landau(random);
    }
    std::sort(values.begin(), values.end());
    // Integrals of exp(-t ln t - x t) sin(pi t) / (pi t) over t.
    struct Tail {
        double from, probability;
    };
    for (const auto& [from, probability] : {Tail{-1, 0.886385}, Tail{-0.653, 0.829832}, Tail{0, 0.713167},
                                            Tail{1.35578, 0.5}, Tail{3, 0.335794}, Tail{10, 0.117061}}) {
        const auto above = values.end() - std::upper_bound(values.begin(), values.end(), from);
        EXPECT_NEAR(static_cast<double>(above) / n, probability, 4 * std::sqrt(0.25 / n)) << from;
    }
}

TEST(MuonLoss, StepsHaveTheRestrictedMeanAndTheMostProbableSum) {
    const MuonMotion muon(minimum_ionising);
    for (const double cut : {1.0, 3.0, 1e9}) {
        RandomStream random(3);
        constexpr int steps = 400000;
        double sum = 0;
        for (int i = 0; i < steps; ++i) {
            sum += random_loss(random, muon, 0.5, cut);
        }
        EXPECT_NEAR(sum / steps / 0.5 / mean_loss(muon, cut), 1, 0.015) << cut;
    }
    // The sum over 20 steps of 0.5 mm equals the loss over a centimetre.
    constexpr int centimetres = 40000;
    RandomStream random(4);
    std::vector<double> losses(centimetres, 0.0);
    for (double& loss : losses) {
        for (int i = 0; i < 20; ++i) {
            loss += random_loss(random, muon, 0.5, 20);
        }
    }
    std::sort(losses.begin(), losses.end());
    const std::size_t part = centimetres / 5;
    std::size_t best = 0;
    for (std::size_t i = 0; i + part < losses.size(); ++i) {
        best = losses[i + part] - losses[i] < losses[best + part] - losses[best] ? i : best;
    }
    EXPECT_NEAR(0.5 * (losses[best] + losses[best + part]), 1.7, 0.05);
}

TEST(MuonLoss, SlowMuonsLoseWithTheMeanAndVarianceOfVavilov) {
    const MuonMotion muon(2); // xi above a tenth of the largest transfer
    const double width = landau_width(muon, 0.5), largest = muon.largest_transfer();
    ASSERT_GT(width, 0.1 * largest);
    RandomStream random(5);
    constexpr int n = 100000;
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
        const double loss = random_loss(random, muon, 0.5, 3);
        sum += loss;
        squares += loss * loss;
    }
    const double mean = sum / n, variance = squares / n - mean * mean;
    const double expected = width * largest * (1 - 0.5 * muon.beta_squared);
    EXPECT_NEAR(mean, mean_loss(muon, 3) * 0.5, 4 * std::sqrt(expected / n));
    EXPECT_NEAR(variance / expected, 1, 0.03);
}

TEST(Scattering, RmsOfManyStepsIsHighlands) {
    const double kinetic = kinetic_of_momentum(1000), length = 140; // one radiation length
    const MuonMotion motion(kinetic);
    EXPECT_NEAR(scattering_angle(motion, length), 13.6 / 1000 / std::sqrt(motion.beta_squared), 1e-6);
    constexpr int muons = 1500;
    double squares = 0;
    for (int i = 0; i < muons; ++i) {
        RandomStream random(static_cast<std::uint64_t>(100 + i));
        // From x = -140 mm to the end of the box at 0.
        const Box slab{{-length, -1e6, -1e6}, {0, 1e6, 1e6}};
        const EnergyDeposits track =
            muon_deposits(random, {{-length, 0, 0}, {1, 0, 0}, kinetic}, slab, 0, 0.5, 3);
        const std::size_t last = track.position.size() - 1;
        const Point3 end = track.position[last] - track.position[last - 1];
        squares += (std::pow(end.y / end.x, 2) + std::pow(end.z / end.x, 2)) / 2;
    }
    // The energy decreases by 3 %, so the RMS is about 1.5 % above that of the initial energy.
    EXPECT_NEAR(std::sqrt(squares / muons) / (1.015 * scattering_angle(motion, length)), 1, 0.05);
}

TEST(MuonTracks, AStoppingMuonDepositsItsEnergyOverItsRange) {
    double range = 0; // integral of dE / (dE/dx), 0.05 MeV steps
    for (double kinetic = 0.5 + 0.025; kinetic < 100; kinetic += 0.05) {
        range += 0.05 / mean_loss(MuonMotion(kinetic), no_cut);
    }
    const Box box{{-1e6, -1e6, -1e6}, {1e6, 1e6, 1e6}};
    double path = 0;
    constexpr int muons = 40;
    for (int i = 0; i < muons; ++i) {
        RandomStream random(static_cast<std::uint64_t>(i));
        const EnergyDeposits track = muon_deposits(random, {{0, 0, 0}, {0, 0, 1}, 100}, box, 10, 0.5, 1e9);
        double energy = 0;
        for (const double loss : track.energy) {
            energy += loss;
        }
        EXPECT_NEAR(energy, 100, 1e-9);
        EXPECT_TRUE(std::is_sorted(track.time.begin(), track.time.end()));
        EXPECT_GT(track.time.front(), 10);
        path += 0.5 * static_cast<double>(track.energy.size());
    }
    EXPECT_NEAR(path / muons / range, 1, 0.02);
}

TEST(MuonTracks, CosmicDirectionsAndEnergies) {
    RandomStream random(6);
    constexpr int n = 40000;
    double down = 0, down_squares = 0, across = 0;
    int above_gev = 0;
    for (int i = 0; i < n; ++i) {
        const Point3 direction = cosmic_direction(random);
        EXPECT_NEAR(direction.length(), 1, 1e-12);
        ASSERT_LE(direction.y, 0);
        down -= direction.y;
        down_squares += direction.y * direction.y;
        across += direction.x;
        const double energy = cosmic_energy(random) + muon_mass;
        ASSERT_GE(energy, 500 - 1e-9);
        above_gev += energy > 2000;
    }
    EXPECT_NEAR(down / n, 0.75, 0.005);        // integral of cos^3 over that of cos^2
    EXPECT_NEAR(down_squares / n, 0.6, 0.005); // of cos^4
    EXPECT_NEAR(across / n, 0, 0.01);
    EXPECT_NEAR(static_cast<double>(above_gev) / n, std::pow((4.29 + 2.0) / (4.29 + 0.5), -2.01), 0.01);
}

TEST(Recombination, PublishedValues) {
    const at::Tensor dedx = at::tensor({0.0, 0.17, 0.21, 0.8}, at::kDouble); // MeV/mm
    constexpr double field = 5e-5;                                           // 500 V/cm
    const at::Tensor box = free_fraction(dedx, field, RecombinationModel::box);
    const at::Tensor birks = free_fraction(dedx, field, RecombinationModel::birks);
    const double* r = box.const_data_ptr<double>();
    EXPECT_EQ(r[0], 1);
    // ln(0.93 + x) / x with x = 0.212 * 2.1 / (1.396 * 0.5) = 0.6378
    EXPECT_NEAR(r[2], std::log(0.93 + 0.63782) / 0.63782, 1e-4);
    EXPECT_NEAR(r[2], 0.70, 0.02);
    EXPECT_NEAR(birks.const_data_ptr<double>()[2], 0.8 / (1 + 0.0486 * 2.1 / 0.698), 1e-9);
    EXPECT_NEAR(birks.const_data_ptr<double>()[2], 0.70, 0.02);
    EXPECT_LT(r[3], r[2]);
    EXPECT_LT(r[2], r[1]);
    // A stronger field reduces the recombination.
    EXPECT_GT(free_fraction(dedx, 1e-4, RecombinationModel::box).const_data_ptr<double>()[3], r[3]);
    EXPECT_GT(free_fraction(dedx, 1e-4, RecombinationModel::birks).const_data_ptr<double>()[2],
              birks.const_data_ptr<double>()[2]);
    // 2.1 MeV give 88983 pairs, of which 70 % stay free.
    const at::Tensor electrons = free_electrons(
        at::tensor({2.1}, at::kDouble), at::tensor({0.21}, at::kDouble), field, RecombinationModel::box);
    EXPECT_NEAR(*electrons.const_data_ptr<double>(), 2.1e6 / 23.6 * r[2], 1e-6);
}

} // namespace
} // namespace spng
