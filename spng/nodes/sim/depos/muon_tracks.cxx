// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/muon_tracks.h"

#include "spng/nodes/sim/depos/muon_loss.h"
#include "spng/nodes/sim/depos/straight_tracks.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spng {
namespace {

// Below this energy the range of a muon is less than 0.1 mm, and the Bethe formula is not valid.
constexpr double stopped = 0.5; // MeV

/// Rotate the direction by small angles in two perpendicular planes that contain it.
Point3 deflected(Point3 direction, double one, double other) {
    // The first plane comes from the axis with the largest angle to the direction.
    const double x = std::abs(direction.x), y = std::abs(direction.y), z = std::abs(direction.z);
    const Point3 axis = x <= y && x <= z ? Point3{1, 0, 0} : y <= z ? Point3{0, 1, 0} : Point3{0, 0, 1};
    const auto cross = [](Point3 a, Point3 b) {
        return Point3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    };
    const Point3 normal = cross(direction, axis);
    const Point3 first = normal * (1 / normal.length()), second = cross(direction, first);
    const Point3 rotated = direction + first * std::tan(one) + second * std::tan(other);
    return rotated * (1 / rotated.length());
}

} // namespace

double cosmic_energy(RandomStream& random) {
    constexpr double scale = 4290, min_energy = 500, power = 3.01;
    const double total = (scale + min_energy) * std::pow(random.uniform(), -1 / (power - 1)) - scale;
    return total - muon_mass;
}

Point3 cosmic_direction(RandomStream& random) {
    // The density of the cosine is 3 cos^2.
    const double cosine = std::cbrt(random.uniform()), sine = std::sqrt(1 - cosine * cosine);
    const double angle = random.uniform(0, 2 * std::numbers::pi);
    return {sine * std::cos(angle), -cosine, sine * std::sin(angle)};
}

Muon random_muon(RandomStream& random, const Box& box, const MuonConfig& config) {
    const Point3 through = random_point(random, box);
    const Point3 direction =
        config.directions == "cosmic" ? cosmic_direction(random) : isotropic_direction(random);
    return {clipped_line(box, through, direction).begin, direction, cosmic_energy(random)};
}

EnergyDeposits muon_deposits(RandomStream& random, Muon muon, const Box& box, double start, double step,
                             double delta_cut) {
    EnergyDeposits deposits;
    double time = start;
    while (muon.kinetic > 0) {
        const Point3 middle = muon.position + muon.direction * (0.5 * step);
        if (!box.contains(middle)) {
            break;
        }
        const MuonMotion motion(muon.kinetic);
        const double mean = mean_loss(motion, delta_cut);
        double loss = std::min(random_loss(random, motion, step, delta_cut), muon.kinetic);
        if (muon.kinetic - loss < stopped) {
            loss = muon.kinetic;
        }
        const double duration = step / (std::sqrt(motion.beta_squared) * speed_of_light);
        deposits.add(time + 0.5 * duration, middle, loss, mean > 0 ? mean : loss / step);
        const double angle = scattering_angle(motion, step);
        muon.position = muon.position + muon.direction * step;
        const double one = angle * random.normal(), other = angle * random.normal();
        muon.direction = deflected(muon.direction, one, other);
        muon.kinetic -= loss;
        time += duration;
    }
    return deposits;
}

} // namespace spng
