// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/torch_frer_spectrum.h"

#include "spng/core/registry.h"
#include "spng/core/units.h"
#include "spng/detector/fft_size.h"
#include "spng/detector/response_components.h"
#include "spng/detector/response_kernel.h"
#include "spng/detector/wire_average.h"
#include "spng/graph/memory_rule.h"

#include <ATen/ops/fft_fft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace spng {
namespace {

std::int64_t readout_ticks(const TorchFRERSpectrumConfig& config) {
    return config.default_nticks;
}

const Registration<TorchFRERSpectrum> registration{
    {.type = "TorchFRERSpectrum",
     .kind = "service",
     .text = "product of field response and electronics response (FRER) of one plane",
     .memory = memory_rule<TorchFRERSpectrum>({.readout_ticks = readout_ticks})}};

} // namespace

void TorchFRERSpectrum::prepare(Environment& environment) {
    const auto& field =
        environment.service<FieldResponseComponent>(config().field_response, at_key("field_response"));
    const FieldResponse& field_response = field.response();
    m_notes = notes_of(*field.data_file());
    const auto& electronics =
        environment.service<ElecResponse>(config().elec_response, at_key("elec_response"));
    const at::Tensor average =
        average_over_wires(field_response.plane(config().fr_plane_id),
                           config().average == "compat" ? AverageMode::compat : AverageMode::rounded);
    const double lsb = 1 / config().adc_per_voltage / units::volt;
    m_kernel = response_kernel(average, field_response.period, electronics.electronics(),
                               {config().readout_period, electronics.duration(), lsb});
    m_roll = std::llround(field_response.origin / field_response.speed / config().readout_period);
}

std::int64_t TorchFRERSpectrum::padded_ticks(std::int64_t ticks) const {
    return fast_fft_size(ticks + m_kernel.size(1) - 1, config().rebin);
}

at::Tensor TorchFRERSpectrum::spectrum(std::int64_t channels, std::int64_t padded_ticks) const {
    const std::int64_t wires = m_kernel.size(0);
    if (channels < wires || padded_ticks < m_kernel.size(1)) {
        reject("fr_plane_id",
               std::to_string(wires) + " wires and " + std::to_string(m_kernel.size(1)) +
                   " ticks of response",
               "at most the " + std::to_string(channels) + " channels and " + std::to_string(padded_ticks) +
                   " ticks of the waveforms");
    }
    // The other channels are 0: only the wires of the response need a transform along ticks.
    const at::Tensor rows = at::fft_rfft(m_kernel, padded_ticks);
    const std::int64_t below = wires / 2;
    at::Tensor rolled = at::zeros({channels, rows.size(1)}, rows.options());
    rolled.narrow(0, 0, wires - below).copy_(rows.narrow(0, below, wires - below));
    rolled.narrow(0, channels - below, below).copy_(rows.narrow(0, 0, below));
    return at::fft_fft(rolled, std::nullopt, 0);
}

std::shared_ptr<TensorsByLength> TorchFRERSpectrum::shared_by(const std::string& settings) const {
    const std::lock_guard lock(m_mutex);
    auto& tensors = m_shared[settings];
    if (!tensors) {
        tensors = std::make_shared<TensorsByLength>();
    }
    return tensors;
}

} // namespace spng
