// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/depo_flux_splat.h"

#include "WireCellSpng/TorchnvTools.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace spng {
namespace {

const Registration<DepoFluxSplat> registration{
    {.type = "SPNGDepoFluxSplat",
     .kind = "sim",
     .inputs = {"depos"},
     .outputs = {"truth"},
     .text = "computes true charge and true ROIs of each channel"}};

/// Add the charge of each wire to the row of its channel.
void add_to_channels(const ChargeImage& image, const ReadoutPlane& plane, at::Tensor& charge) {
    auto* const rows = charge.mutable_data_ptr<float>();
    for (std::size_t slot = 0; slot < plane.row.size(); ++slot) {
        for (std::int32_t at = image.first_run[slot]; at < image.first_run[slot + 1]; ++at) {
            const ChargeRun& run = image.runs[static_cast<std::size_t>(at)];
            float* to = rows + plane.row[slot] * charge.size(1) + run.tick;
            for (std::int32_t i = 0; i < run.length; ++i) {
                to[i] += image.electrons[static_cast<std::size_t>(std::int64_t{run.offset} + i)];
            }
        }
    }
}

} // namespace

at::Tensor true_regions(const at::Tensor& charge, double threshold, std::int64_t rebin) {
    const std::int64_t ticks = charge.size(1);
    const std::int64_t pixels = (ticks + rebin - 1) / rebin;
    const at::Tensor above = at::constant_pad_nd(charge.gt(threshold), {0, pixels * rebin - ticks});
    return above.view({charge.size(0), pixels, rebin})
        .any(-1, /*keepdim=*/true)
        .expand({-1, -1, rebin})
        .reshape({charge.size(0), pixels * rebin})
        .narrow(1, 0, ticks)
        .to(at::kShort)
        .contiguous();
}

void DepoFluxSplat::configured() {
    for (const auto& [key, smears] :
         {std::pair{"smear_long", &config().smear_long}, std::pair{"smear_tran", &config().smear_tran}}) {
        if (smears->size() != 3) {
            reject(key, std::to_string(smears->size()) + " values", "three, one per plane");
        }
    }
}

void DepoFluxSplat::prepare_node(Environment& environment) {
    constexpr std::int64_t gap = 64; // wider than any spread of charge beyond the last wire
    m_readout.prepare(config(), environment.service<AnodePlane>(config().anode, at_key("anode")), gap);
}

Ports DepoFluxSplat::process(const Ports& inputs) {
    const at::Tensor& depositions = depositions_of(*inputs[0]);
    at::Tensor charge =
        at::zeros({static_cast<std::int64_t>(m_readout.channels().size()), config().nticks}, at::kFloat);
    const ChargeBinningConfig binning{.bins = 1,
                                      .interpolate = false,
                                      .nsigma = config().nsigma,
                                      .first_tick = 0,
                                      .ticks = config().nticks};
    for (const ReadoutPlane& plane : m_readout.planes()) {
        NVTX_SCOPED_RANGE("DepoFluxSplat::bin");
        const auto index = static_cast<std::size_t>(plane.plane);
        ChargeSpots spots = m_readout.spots(depositions, plane);
        for (std::size_t i = 0; i < spots.size(); ++i) {
            spots.wire_sigma[i] = std::hypot(spots.wire_sigma[i], config().smear_tran[index]);
            spots.tick_sigma[i] = std::hypot(spots.tick_sigma[i], config().smear_long[index]);
            spots.tick[i] += config().delay / config().tick;
        }
        add_to_channels(bin_charge(spots, plane.exists(), binning), plane, charge);
    }
    at::Tensor regions = true_regions(charge, config().threshold, config().rebin);
    return {std::make_shared<const TensorSet>(
        m_readout.event(inputs[0]->event()),
        std::vector{m_readout.frame_tensor("truth", std::move(charge), "electrons"),
                    m_readout.frame_tensor("roi", std::move(regions), "")})};
}

} // namespace spng
