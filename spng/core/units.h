// SPDX-License-Identifier: Apache-2.0
#pragma once
// The system of units of the Wire-Cell Toolkit, as in cfg/lib/wirecell.jsonnet: mm, ns, MeV and the
// positron's charge are 1. Configuration values arrive in these units.

namespace spng::units {

inline constexpr double ns = 1;
inline constexpr double eplus = 1;
/// 1 MeV / eplus.
inline constexpr double megavolt = 1;
inline constexpr double volt = 1e-6 * megavolt;
inline constexpr double millivolt = 1e-3 * volt;
/// Charge of the positron in coulomb, exact (SI 2019).
inline constexpr double coulomb = eplus / 1.602176634e-19;
inline constexpr double femtocoulomb = 1e-15 * coulomb;

} // namespace spng::units
