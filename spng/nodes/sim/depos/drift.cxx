// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/drift.h"

#include "spng/nodes/sim/random_stream.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>

namespace spng {
namespace {

/// Destination of each deposition.
struct Destination {
    at::Tensor plane;  ///< (n) x of the response plane [mm]; outside of all volumes the own x
    at::Tensor travel; ///< (n) distance to the response plane [mm], negative behind it
    at::Tensor inside; ///< (n) bool
};

at::Tensor between(const at::Tensor& value, double one, double other) {
    return (value >= std::min(one, other)) & (value <= std::max(one, other));
}

Destination destination(const at::Tensor& data, const std::vector<DriftVolume>& volumes) {
    const at::Tensor x = data[depo_row::x], y = data[depo_row::y], z = data[depo_row::z];
    const at::Tensor finite = at::isfinite(data).all(0);
    Destination result{x, at::zeros_like(x), at::zeros_like(finite)};
    for (const DriftVolume& volume : volumes) {
        const at::Tensor here = finite & between(x, volume.anode, volume.cathode) &
                                between(y, volume.low.y, volume.high.y) &
                                between(z, volume.low.z, volume.high.z);
        result.plane = at::where(here, volume.response, result.plane);
        result.travel = at::where(here, (x - volume.response) * volume.side(), result.travel);
        result.inside = result.inside | here;
    }
    return result;
}

at::Tensor surviving(const at::Tensor& charge, const at::Tensor& time, const DriftSettings& settings,
                     std::uint64_t seed) {
    if (settings.lifetime == 0) {
        return charge;
    }
    if (!settings.fluctuate) {
        return charge * at::exp(-time / settings.lifetime);
    }
    const at::Tensor lost = -at::expm1(-time / settings.lifetime);
    return charge - at::sign(charge) * binomial(at::floor(charge.abs()), lost, seed);
}

at::Tensor spread(const at::Tensor& sigma, const at::Tensor& time, double diffusion) {
    return at::sqrt(sigma * sigma + 2 * diffusion * time);
}

} // namespace

DriftedDepositions drift(const Depositions& depositions, const std::vector<DriftVolume>& volumes,
                         const DriftSettings& settings, std::uint64_t seed) {
    require_depositions(depositions, "drift");
    const at::Tensor& data = depositions.data;
    const Destination to = destination(data, volumes);
    const at::Tensor signed_time = to.travel / settings.speed, time = signed_time.clamp_min(0);
    const at::Tensor arrival = data[depo_row::time] + signed_time;
    const at::Tensor charge = at::where(to.inside, data[depo_row::charge], 0.0);
    const at::Tensor drifted = at::stack(
        {arrival, surviving(charge, time, settings, seed), to.plane, data[depo_row::y], data[depo_row::z],
         spread(data[depo_row::sigma_long], time, settings.longitudinal_diffusion),
         spread(data[depo_row::sigma_tran], time, settings.transverse_diffusion)});
    // Sort the outside ones to the end and cut them off. The host waits once for the device, for their
    // count.
    const at::Tensor key = at::where(to.inside, arrival, std::numeric_limits<double>::infinity());
    const at::Tensor order = at::argsort(key, /*stable=*/true, 0, false);
    const at::Tensor inside = to.inside.sum().cpu();
    const std::int64_t kept = *inside.const_data_ptr<std::int64_t>();
    return {selected_depositions({drifted, depositions.info}, order.slice(0, 0, kept)),
            depositions.count() - kept};
}

} // namespace spng
