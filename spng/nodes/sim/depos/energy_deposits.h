// SPDX-License-Identifier: Apache-2.0
#pragma once
// Points of a track, before the conversion to tensors.

#include "spng/nodes/sim/depos/drift_volume.h"

#include <cmath>
#include <vector>

namespace spng {

struct Point3 {
    double x = 0, y = 0, z = 0; ///< mm

    Point3 operator+(Point3 other) const { return {x + other.x, y + other.y, z + other.z}; }
    Point3 operator-(Point3 other) const { return {x - other.x, y - other.y, z - other.z}; }
    Point3 operator*(double factor) const { return {x * factor, y * factor, z * factor}; }
    double length() const { return std::sqrt(x * x + y * y + z * z); }
};

struct Box {
    Point3 low, high;

    bool contains(Point3 point) const {
        return point.x >= low.x && point.x <= high.x && point.y >= low.y && point.y <= high.y &&
               point.z >= low.z && point.z <= high.z;
    }
    double size() const { return (high.x - low.x) * (high.y - low.y) * (high.z - low.z); }
};

/// Return the box between response plane and cathode over the area of the wires, reduced by `margin` on all
/// sides [mm].
Box box_of(const DriftVolume& volume, double margin);

/// Charges at points; all lists of equal length.
struct ChargePoints {
    std::vector<double> time; ///< ns
    std::vector<double> x, y, z;
    std::vector<double> electrons; ///< above 0
    std::vector<int> id, pdg;

    void add(double when, Point3 where, double charge, int track, int particle) {
        time.push_back(when);
        x.push_back(where.x);
        y.push_back(where.y);
        z.push_back(where.z);
        electrons.push_back(charge);
        id.push_back(track);
        pdg.push_back(particle);
    }
};

/// Energy lost along a track; all lists of equal length.
struct EnergyDeposits {
    std::vector<double> time; ///< ns
    std::vector<Point3> position;
    std::vector<double> energy; ///< MeV
    std::vector<double> dedx;   ///< mean loss of the particle [MeV/mm], for the recombination

    void add(double when, Point3 where, double lost, double mean) {
        time.push_back(when);
        position.push_back(where);
        energy.push_back(lost);
        dedx.push_back(mean);
    }
};

/// mm/ns
inline constexpr double speed_of_light = 299.792458;

} // namespace spng
