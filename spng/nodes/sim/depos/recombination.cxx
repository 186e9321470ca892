// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/recombination.h"

#include "spng/core/tensor_checks.h"
#include "spng/core/units.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log.h>
#include <ATen/ops/where.h>

namespace spng {
namespace {

constexpr double millimetres_per_centimetre = 10;
constexpr double kilovolt_per_centimetre = 1000 * units::volt / millimetres_per_centimetre;
constexpr double box_alpha = 0.93;
constexpr double box_beta = 0.212; // kV/cm g/cm2 / MeV
constexpr double birks_a = 0.8;
constexpr double birks_k = 0.0486; // kV/cm g/cm2 / MeV

} // namespace

at::Tensor free_fraction(const at::Tensor& dedx, double field, RecombinationModel model) {
    require_tensor(dedx.defined() && dedx.scalar_type() == at::kDouble, "free_fraction", "dedx", dedx,
                   "float64");
    const at::Tensor per_field =
        dedx * millimetres_per_centimetre / (argon_density * field / kilovolt_per_centimetre);
    if (model == RecombinationModel::birks) {
        return birks_a / (1 + birks_k * per_field);
    }
    const at::Tensor x = box_beta * per_field;
    return at::where(x > 0, at::log(box_alpha + x) / x, 1.0).clamp(0, 1);
}

at::Tensor free_electrons(const at::Tensor& energy, const at::Tensor& dedx, double field,
                          RecombinationModel model) {
    constexpr double ionisation_energy = ionisation_energy_eV * 1e-6;
    return energy / ionisation_energy * free_fraction(dedx, field, model);
}

} // namespace spng
