#pragma once
// How much of the ionisation of liquid argon stays free: electrons that do not return to their ions.

#include <ATen/core/Tensor.h>

namespace spng {

/// eV per electron-ion pair in liquid argon (Miyajima et al., Phys. Rev. A 9 (1974) 1438).
inline constexpr double ionisation_energy_eV = 23.6;

/// g/cm3, liquid argon at its boiling point under 1 bar.
inline constexpr double argon_density = 1.396;

enum class RecombinationModel {
    box,  ///< modified box, ArgoNeuT (JINST 8 (2013) P08005): ln(0.93 + x) / x, x = 0.212 dE/dx / (rho E)
    birks ///< ICARUS (Nucl. Instrum. Meth. A 523 (2004) 275): 0.8 / (1 + 0.0486 dE/dx / (rho E))
};

/// Fraction of electrons that stay free, where dE/dx is in MeV/cm, rho in g/cm3 and E in kV/cm.
/// The box form is meant for more than about 1 MeV/cm at 500 V/cm: below, ln(0.93 + x) / x falls again and
/// ends below 0, where the result is 0; at dE/dx = 0 it is 1.
/// @param dedx   float64, any shape [MeV/mm]
/// @param field  electric field [MV/mm, the toolkit's unit], above 0
at::Tensor free_fraction(const at::Tensor& dedx, double field, RecombinationModel model);

/// Electrons that drift away: energy / W times free_fraction().
/// @param energy  MeV, of the shape of dedx
at::Tensor free_electrons(const at::Tensor& energy, const at::Tensor& dedx, double field,
                          RecombinationModel model);

} // namespace spng
