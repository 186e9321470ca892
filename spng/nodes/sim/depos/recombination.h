// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recombination in liquid argon: the fraction of electrons that do not return to their ions.

#include <ATen/core/Tensor.h>

namespace spng {

/// eV per electron-ion pair in liquid argon (Miyajima et al., Phys. Rev. A 9 (1974) 1438).
inline constexpr double ionisation_energy_eV = 23.6;

/// Density of liquid argon at its boiling point at 1 bar [g/cm3].
inline constexpr double argon_density = 1.396;

enum class RecombinationModel {
    box,  ///< modified box, ArgoNeuT (JINST 8 (2013) P08005): ln(0.93 + x) / x, x = 0.212 dE/dx / (rho E)
    birks ///< ICARUS (Nucl. Instrum. Meth. A 523 (2004) 275): 0.8 / (1 + 0.0486 dE/dx / (rho E))
};

/// Return the fraction of free electrons. The formulas use dE/dx in MeV/cm, rho in g/cm3 and E in kV/cm. The
/// box model is valid above about 1 MeV/cm at 500 V/cm. Below, ln(0.93 + x) / x decreases and becomes
/// negative; the result is then 0, and 1 at dE/dx = 0.
/// @param dedx   float64, any shape [MeV/mm]
/// @param field  electric field, above 0 [MV/mm, the unit of WCT]
at::Tensor free_fraction(const at::Tensor& dedx, double field, RecombinationModel model);

/// Return the number of free electrons, energy / W times free_fraction().
/// @param energy  shape of `dedx` [MeV]
at::Tensor free_electrons(const at::Tensor& energy, const at::Tensor& dedx, double field,
                          RecombinationModel model);

} // namespace spng
