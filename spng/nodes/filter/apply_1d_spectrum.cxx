// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/filter/apply_1d_spectrum.h"

#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/decon/torch_frer_spectrum.h"
#include "spng/nodes/filter/time_filter.h"
#include "spng/nodes/filter/torch_1d_spectrum.h"

#include <ATen/ops/stack.h>

#include <cmath>

namespace spng {
namespace {

/// Memory of the product of the used frequencies, and of the inverse transform with its padding. A padded
/// waveform is as large as its spectrum.
std::vector<PlannedSet> plan_memory(const Apply1DSpectrumConfig& config, PlannedCall& call) {
    const PlannedTensor& spectrum = call.inputs.at(0).at(0);
    const std::int64_t bytes = spectrum.block->bytes() / config.rebin;
    const auto product = call.scratch(MemoryUse::images, bytes);
    PlannedTensor image = spectrum;
    image.ticks = spectrum.ticks / config.rebin;
    image.block = call.scratch(MemoryUse::images, bytes);
    return {{image}};
}

const Registration<Apply1DSpectrum> registration{
    {.type = "SPNGApply1DSpectrum",
     .kind = "filter",
     .inputs = {"spectrum"},
     .outputs = {"waveform"},
     .text = "filters along ticks and transforms back to time, optionally at a coarser sampling",
     .memory = memory_rule<Apply1DSpectrum>({.call = plan_memory})}};

} // namespace

void Apply1DSpectrum::prepare_node(Environment& environment) {
    m_response = &environment.service<TorchFRERSpectrum>(config().frer_spectrum, at_key("frer_spectrum"));
    for (const auto& reference : config().base_spectrum_name) {
        m_spectra.push_back(&environment.service<Torch1DSpectrum>(reference, at_key("base_spectrum_name")));
    }
    filter_for(m_response->padded_ticks(m_response->config().default_nticks));
}

at::Tensor Apply1DSpectrum::filter_for(std::int64_t padded_ticks) {
    return m_filters.get(padded_ticks, context().device(), [&] {
        std::vector<at::Tensor> views;
        for (const auto* spectrum : m_spectra) {
            const at::Tensor values = spectrum->half(padded_ticks, m_response->config().readout_period);
            views.push_back(time_filter(values, padded_ticks, m_response->roll_ticks(), config().rebin));
        }
        return at::stack(views).unsqueeze(1).to(context().complex());
    });
}

NamedTensor Apply1DSpectrum::step(NamedTensor spectrum, const EventInfo& event) {
    const auto padded = std::llround(1 / (spectrum.axes[2].period * event.tick));
    NamedTensor waveform = like(spectrum, config().output,
                                apply_time_filter(spectrum.data, filter_for(padded), padded / config().rebin,
                                                  (event.ticks + config().rebin - 1) / config().rebin));
    waveform.axes[2] = {"tick", "ns", event.start, event.tick * static_cast<double>(config().rebin)};
    waveform.domain = Domain::time;
    return waveform;
}

} // namespace spng
