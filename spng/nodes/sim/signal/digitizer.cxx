// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/digitizer.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/tensor_checks.h"
#include "spng/detector/anode_plane.h"

#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace spng {
namespace {

const Registration<Digitizer> registration{{.type = "SPNGDigitizer",
                                            .kind = "sim",
                                            .inputs = {"waveforms"},
                                            .outputs = {"adc"},
                                            .text = "converts waveforms to integer ADC counts"}};

} // namespace

at::Tensor digitize(const at::Tensor& waveforms, const at::Tensor& baselines, int bits) {
    return waveforms.add(baselines.unsqueeze(-1))
        .floor_()
        .nan_to_num_(0.0)
        .clamp_(0.0, static_cast<double>((1 << bits) - 1))
        .to(at::kShort);
}

void Digitizer::configured() {
    if (config().baselines.size() != 3) {
        reject("baselines", std::to_string(config().baselines.size()) + " values", "three, one per plane");
    }
}

void Digitizer::prepare_node(Environment& environment) {
    const auto& anode = environment.service<AnodePlane>(config().anode, at_key("anode"));
    m_baselines = at::zeros({static_cast<std::int64_t>(anode.channels().size())}, at::kFloat);
    auto* const baseline = m_baselines.mutable_data_ptr<float>();
    for (const WireFace& face : anode.wires().faces) {
        for (const WirePlane& plane : face.planes) {
            for (const Wire& wire : plane.wires) {
                const auto row =
                    std::lower_bound(anode.channels().begin(), anode.channels().end(), wire.channel) -
                    anode.channels().begin();
                baseline[row] = static_cast<float>(config().baselines[static_cast<std::size_t>(plane.ident)]);
            }
        }
    }
}

Ports Digitizer::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("Digitizer::digitize");
    NamedTensor waveforms = inputs[0]->only();
    require_tensor(is_real(waveforms.data) && waveforms.data.dim() == 2 && waveforms.data.is_cpu() &&
                       waveforms.data.size(0) == m_baselines.size(0),
                   "SPNGDigitizer", "waveforms", waveforms.data,
                   "real (" + std::to_string(m_baselines.size(0)) + ", tick) cpu");
    waveforms.name = config().output;
    waveforms.data = digitize(waveforms.data, m_baselines, config().bits);
    // Channels without charge have waveforms.
    auto event = std::make_shared<EventInfo>(inputs[0]->event());
    event->masks.erase("missing");
    waveforms.notes.erase("missing");
    return {std::make_shared<const TensorSet>(std::move(event), std::vector{std::move(waveforms)})};
}

} // namespace spng
