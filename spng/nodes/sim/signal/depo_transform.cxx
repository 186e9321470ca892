// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/depo_transform.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/core/units.h"
#include "spng/detector/response_components.h"
#include "spng/device/context.h"
#include "spng/nodes/sim/signal/impact_response.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

namespace spng {
namespace {

const Registration<DepoTransform> registration{
    {.type = "SPNGDepoTransform",
     .kind = "sim",
     .inputs = {"depos"},
     .outputs = {"signal"},
     .text = "simulates waveforms without noise from drifted charge"}};

} // namespace

void DepoTransform::prepare_node(Environment& environment) {
    const auto& response_file =
        environment.service<FieldResponseComponent>(config().field_response, at_key("field_response"));
    const FieldResponse& field = response_file.response();
    m_notes = notes_of(*response_file.data_file());
    const auto& names = config().elec_response;
    constexpr std::size_t plane_count = 3;
    if (names.size() != 1 && names.size() != plane_count) {
        reject("elec_response", std::to_string(names.size()) + " names", "one, or one for each of 3 planes");
    }
    // Wider than the reach of any response and than any diffusion of charge beyond the last wire.
    constexpr std::int64_t gap = 64;
    m_readout.prepare(config(), environment.service<AnodePlane>(config().anode, at_key("anode")), gap);
    for (const ReadoutPlane& plane : m_readout.planes()) {
        const auto& electronics = environment.service<ElecResponse>(
            names.size() == 1 ? names.front() : names.at(static_cast<std::size_t>(plane.plane)),
            at_key("elec_response"));
        const ImpactResponse response = impact_response(
            field, plane.plane, electronics.electronics(),
            {config().tick, electronics.duration(), 1 / config().adc_per_voltage / units::volt});
        if (response.kernel.size(0) / 2 >= gap) {
            reject("field_response", std::to_string(response.kernel.size(0)) + " wire regions",
                   "fewer than " + std::to_string(2 * gap));
        }
        constexpr double negligible =
            1e-6; // of the largest sample: less than 1e-4 ADC for a million electrons
        const std::int64_t length = response.kernel.size(2);
        m_planes.push_back(
            {.rows = at::tensor(std::vector<std::int64_t>(plane.rows.begin(), plane.rows.end())),
             .convolution = make_impact_convolution(plane, response.kernel, negligible, context().device(),
                                                    context().real()),
             .binning = {.bins = response.bins,
                         .interpolate = true,
                         .nsigma = config().nsigma,
                         .first_tick = -length,
                         .ticks = config().nticks + length}});
    }
}

Ports DepoTransform::process(const Ports& inputs) {
    const at::Tensor& depositions = depositions_of(*inputs[0]);
    if (const std::int64_t dropped = m_readout.count_dropped(depositions); dropped > 0) {
        log::warn(name().text(), [&] {
            return "dropped " + std::to_string(dropped) + " of " + std::to_string(depositions.size(1)) +
                   " depositions: not at a response plane, not finite, or with negative spread";
        });
    }
    at::Tensor waveforms = at::zeros(
        {static_cast<std::int64_t>(m_readout.channels().size()), config().nticks}, context().real());
    for (std::size_t index = 0; index < m_planes.size(); ++index) {
        const Plane& plane = m_planes[index];
        const ReadoutPlane& wires = m_readout.planes()[index];
        ChargeImage image;
        {
            NVTX_SCOPED_RANGE("DepoTransform::bin");
            image = bin_charge(m_readout.spots(depositions, wires), wires.exists(), plane.binning);
        }
        NVTX_SCOPED_RANGE("DepoTransform::convolve");
        const at::Tensor seen =
            impact_convolution(image, plane.convolution, plane.binning.first_tick, config().nticks);
        waveforms.index_copy_(0, plane.rows, seen.cpu());
    }
    NamedTensor signal = m_readout.frame_tensor(config().output, std::move(waveforms), "ADC");
    merge_notes(signal.notes, m_notes);
    return {std::make_shared<const TensorSet>(m_readout.event(inputs[0]->event()),
                                              std::vector{std::move(signal)})};
}

} // namespace spng
