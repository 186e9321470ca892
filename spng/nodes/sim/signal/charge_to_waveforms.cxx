// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/charge_to_waveforms.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/notes.h"
#include "spng/core/tensor_checks.h"
#include "spng/detector/fft_size.h"
#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/decon/deconvolution.h"
#include "spng/nodes/decon/planned_spectra.h"
#include "spng/nodes/decon/torch_frer_spectrum.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/stack.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

namespace spng {
namespace {

/// The transforms along channels need four padded spectra, before the waveforms exist (measured on the CPU; our kernels
/// need fewer).
std::vector<PlannedSet> plan_memory(const ChargeToWaveformsConfig& config, PlannedCall& call) {
    const PlannedTensor& charge = call.inputs.at(0).at(0);
    const std::int64_t row = 2 * call.real * planned_frequencies(charge.ticks);
    const std::int64_t padded =
        charge.views * planned_channels(charge.channels, config.pad_wire_domain) * row;
    call.keep(padded); // the responses
    const auto working = call.scratch(MemoryUse::spectra, 4 * padded - call.real * charge.samples());
    return {{call.make(charge, MemoryUse::images, call.real)}};
}

PlannedTensor planned_group(const ChargeToWaveformsConfig& config) {
    return {static_cast<std::int64_t>(config.frer_spectrum.size()), config.channels, 0, nullptr};
}

const Registration<ChargeToWaveforms> registration{
    {.type = "SPNGChargeToWaveforms",
     .kind = "sim",
     .inputs = {"charge"},
     .outputs = {"waveforms"},
     .text = "simulates waveforms without noise from a frame of charge, the inverse of SPNGDecon",
     .memory = memory_rule<ChargeToWaveforms>({.call = plan_memory, .group = planned_group})}};

} // namespace

at::Tensor arrival_response(const at::Tensor& response, std::int64_t padded_ticks, std::int64_t roll) {
    require_tensor(response.dim() == 2 && response.scalar_type() == at::kComplexDouble &&
                       response.size(1) == padded_ticks / 2 + 1,
                   "arrival_response", "response", response, "complex128 (channel, padded ticks / 2 + 1)");
    const double step = 2 * std::numbers::pi * static_cast<double>(roll) / static_cast<double>(padded_ticks);
    const at::Tensor angle = at::arange(response.size(1), at::kDouble).mul(step);
    return response * at::polar(at::ones_like(angle), angle);
}

at::Tensor waveforms_of_charge(const at::Tensor& charge, const at::Tensor& response,
                               std::int64_t padded_channels, std::int64_t padded_ticks) {
    require_tensor((is_real(charge) || charge.scalar_type() == at::kShort) && charge.dim() == 3,
                   "waveforms_of_charge", "charge", charge, "int16 or real (view, channel, tick)");
    require_argument(padded_ticks >= charge.size(2), "waveforms_of_charge", "padded ticks", padded_ticks,
                     "at least the ticks of the charge");
    at::Tensor spectrum;
    {
        NVTX_SCOPED_RANGE("ChargeToWaveforms::rfft");
        spectrum = at::fft_rfft(charge.to(c10::toRealValueType(response.scalar_type())), padded_ticks);
    }
    spectrum = deconvolve(spectrum, response, padded_channels);
    NVTX_SCOPED_RANGE("ChargeToWaveforms::irfft");
    return at::fft_irfft(spectrum, padded_ticks).narrow(2, 0, charge.size(2)).contiguous();
}

void ChargeToWaveforms::prepare_node(Environment& environment) {
    for (const auto& each : config().frer_spectrum) {
        const auto& response = environment.service<TorchFRERSpectrum>(each, at_key("frer_spectrum"));
        // The transform has room for the response after the charge, not for one that is all before it.
        if (response.roll_ticks() >= response.kernel().size(1)) {
            reject("frer_spectrum", std::to_string(response.kernel().size(1)) + " ticks of response",
                   "more than the " + std::to_string(response.roll_ticks()) +
                       " ticks from the response plane to the wires");
        }
        m_responses.push_back(&response);
    }
    response_for(m_responses.front()->config().default_nticks);
}

std::int64_t ChargeToWaveforms::padded_channels() const {
    const std::int64_t wires = m_responses.front()->kernel().size(0);
    return config().pad_wire_domain ? fast_fft_size(config().channels + wires - 1) : config().channels;
}

at::Tensor ChargeToWaveforms::response_for(std::int64_t ticks) {
    const std::int64_t padded = m_responses.front()->padded_ticks(ticks);
    return m_spectra.get(padded, context().device(), [&] {
        std::vector<at::Tensor> views;
        for (const auto* response : m_responses) {
            const at::Tensor spectrum = response->spectrum(padded_channels(), padded);
            views.push_back(
                arrival_response(spectrum, padded, response->roll_ticks()).to(context().complex()));
        }
        return at::stack(views);
    });
}

NamedTensor ChargeToWaveforms::step(NamedTensor charge, const EventInfo& /*event*/) {
    const double period = m_responses.front()->config().readout_period;
    if (std::abs(charge.axes[2].period - period) > 1e-6 * period) {
        throw Error(ErrorKind::Input, {.what = "the sampling periods of charge and response differ",
                                       .seen = std::to_string(charge.axes[2].period) + " ns",
                                       .expected = std::to_string(period) + " ns",
                                       .hint = "resample the charge, or set the detector's tick"});
    }
    const std::int64_t ticks = charge.data.size(2);
    NamedTensor waveforms = charge;
    waveforms.name = config().output;
    waveforms.data = waveforms_of_charge(charge.data, response_for(ticks), padded_channels(),
                                         m_responses.front()->padded_ticks(ticks));
    waveforms.unit = "ADC";
    for (const auto* response : m_responses) {
        merge_notes(waveforms.notes, response->notes());
    }
    return waveforms;
}

} // namespace spng
