// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/decon.h"

#include "spng/core/log/log.h"
#include "spng/core/notes.h"
#include "spng/detector/fft_size.h"
#include "spng/device/context.h"
#include "spng/device/memory/aligned_rows.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/decon/deconvolution.h"
#include "spng/nodes/decon/torch_frer_spectrum.h"
#include "spng/nodes/decon/waveform_spectrum.h"
#include "spng/nodes/filter/torch_1d_spectrum.h"

#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace spng {
namespace {

/// Return the number of frequencies of a padded readout.
std::int64_t planned_frequencies(std::int64_t ticks) {
    constexpr std::int64_t response_ticks = 280; // of the detectors in cfg/detectors, 130 us and more
    return fast_fft_size(ticks + response_ticks, 4) / 2 + 1;
}

/// Return the channels of a view, with padding if configured.
std::int64_t planned_channels(const DeconConfig& config, std::int64_t channels) {
    constexpr std::int64_t response_wires = 20; // besides the wire of interest
    return config.pad_wire_domain ? fast_fft_size(channels + response_wires) : channels;
}

/// Spectra along ticks and along channels, product and inverse transform need three spectra besides the
/// result, and one more if channels are padded. These are the copies on the CPU (measured with
/// AllocationScope). Our kernels need one; composites on devices need up to twice as much for a short time.
std::vector<PlannedSet> plan_memory(const DeconConfig& config, PlannedCall& call) {
    const PlannedTensor& adc = call.inputs.at(0).at(0);
    const std::int64_t row = 2 * call.real * planned_frequencies(adc.ticks);
    const std::int64_t padded = adc.views * planned_channels(config, adc.channels) * row;
    const auto all_equal = [](const std::vector<std::string>& names) {
        return std::ranges::all_of(names, [&](const std::string& name) { return name == names.front(); });
    };
    const bool share_kernel = all_equal(config.frer_spectrum) && all_equal(config.wire_filter);
    call.keep(share_kernel ? padded / adc.views : padded); // the kernels
    const auto working = call.scratch(MemoryUse::spectra, padded * (config.pad_wire_domain ? 4 : 3));
    PlannedTensor spectrum = adc;
    spectrum.block = call.scratch(MemoryUse::spectra, adc.views * adc.channels * row);
    return {{spectrum}};
}

PlannedTensor planned_group(const DeconConfig& config) {
    return {static_cast<std::int64_t>(config.frer_spectrum.size()), config.channels, 0, nullptr};
}

const Registration<Decon> registration{
    {.type = "SPNGDecon",
     .kind = "decon",
     .inputs = {"adc"},
     .outputs = {"spectrum"},
     .text = "subtracts the baseline and applies 2D deconvolution and wire filter; the output stays in the "
             "frequency domain",
     .memory = memory_rule<Decon>({.call = plan_memory, .group = planned_group})}};

/// Whether the responses of wires at equal distance are equal, to the rounding of float64. The filters along
/// channels are even functions, so the deconvolution kernel is then symmetric too.
bool is_symmetric(const TorchFRERSpectrum* response) {
    const at::Tensor kernel = response->kernel().contiguous();
    const std::int64_t wires = kernel.size(0), ticks = kernel.size(1);
    const auto* value = kernel.const_data_ptr<double>();
    double largest = 0, difference = 0;
    for (std::int64_t wire = 0; wire < wires; ++wire) {
        for (std::int64_t tick = 0; tick < ticks; ++tick) {
            const double one = value[wire * ticks + tick], other = value[(wires - 1 - wire) * ticks + tick];
            largest = std::max(largest, std::abs(one));
            difference = std::max(difference, std::abs(one - other));
        }
    }
    return difference <= 1e-14 * largest;
}

} // namespace

void Decon::prepare_node(Environment& environment) {
    if (config().wire_filter.size() != 1 && config().wire_filter.size() != config().frer_spectrum.size()) {
        reject("wire_filter", std::to_string(config().wire_filter.size()) + " names",
               "1, or as many as frer_spectrum has (" + std::to_string(config().frer_spectrum.size()) + ")");
    }
    for (std::size_t view = 0; view < config().frer_spectrum.size(); ++view) {
        const auto& filter = config().wire_filter[config().wire_filter.size() == 1 ? 0 : view];
        m_responses.push_back(
            &environment.service<TorchFRERSpectrum>(config().frer_spectrum[view], at_key("frer_spectrum")));
        m_wire_filters.push_back(&environment.service<Torch1DSpectrum>(filter, at_key("wire_filter")));
    }
    m_kernels = m_responses.front()->shared_by(
        joined(config().frer_spectrum) + "; " + joined(config().wire_filter) + "; " +
        std::to_string(config().channels) + (config().pad_wire_domain ? " padded; " : "; ") +
        context().device().str() + " " + c10::toString(context().complex()));
    kernel_for(m_responses.front()->config().default_nticks);
}

std::int64_t Decon::padded_channels(std::size_t view) const {
    const std::int64_t wires = m_responses[view]->kernel().size(0);
    return config().pad_wire_domain ? fast_fft_size(config().channels + wires - 1) : config().channels;
}

at::Tensor Decon::kernel_for(std::int64_t ticks) {
    const std::int64_t padded = m_responses.front()->padded_ticks(ticks);
    return m_kernels->get(padded, context().device(), [&] {
        std::vector<at::Tensor> views;
        // Views of several anodes may have equal kernels.
        std::map<std::pair<const TorchFRERSpectrum*, const Torch1DSpectrum*>, at::Tensor> by_services;
        for (std::size_t view = 0; view < m_responses.size(); ++view) {
            const std::int64_t channels = padded_channels(view);
            at::Tensor& kernel = by_services[{m_responses[view], m_wire_filters[view]}];
            if (!kernel.defined()) {
                kernel = deconvolution_kernel(m_responses[view]->spectrum(channels, padded),
                                              m_wire_filters[view]->full(channels, 1))
                             .to(context().complex());
            }
            views.push_back(kernel);
        }
        at::Tensor kernel = by_services.size() == 1 ? views.front().unsqueeze(0) : at::stack(views);
        if (!context().device().is_cpu()) {
            if (std::all_of(m_responses.begin(), m_responses.end(), is_symmetric)) {
                kernel = kernel.narrow(1, 0, kernel.size(1) / 2 + 1);
            }
            kernel = uploaded_with_aligned_rows(kernel, context().device());
        }
        log::debug(name().text(), [&] {
            return "kernel for " + std::to_string(ticks) + " ticks: " + std::to_string(kernel.size(1)) +
                   " x " + std::to_string(padded);
        });
        return kernel;
    });
}

Ports Decon::process(const Ports& inputs) {
    const EventInfo& event = inputs[0]->event();
    const NamedTensor& adc = inputs[0]->only();
    const double period = m_responses.front()->config().readout_period;
    if (std::abs(adc.axes[2].period - period) > 1e-6 * period) {
        throw Error(ErrorKind::Input, {.what = "the sampling periods of waveforms and response differ",
                                       .seen = std::to_string(adc.axes[2].period) + " ns",
                                       .expected = std::to_string(period) + " ns",
                                       .hint = "resample the frame, or set the detector's tick"});
    }
    const at::Tensor kernel = kernel_for(event.ticks);
    const std::int64_t padded = m_responses.front()->padded_ticks(event.ticks);
    NamedTensor spectrum;
    spectrum.name = "spectrum";
    spectrum.data = deconvolve(waveform_spectrum(adc.data, padded, context().real(), adc.channels->good),
                               kernel, padded_channels(0));
    spectrum.axes = {
        adc.axes[0], adc.axes[1], {"frequency", "1/ns", 0, 1 / (static_cast<double>(padded) * event.tick)}};
    spectrum.unit = "electrons";
    spectrum.domain = Domain::frequency;
    spectrum.channels = adc.channels;
    spectrum.notes = adc.notes;
    for (const auto* response : m_responses) {
        merge_notes(spectrum.notes, response->notes());
    }
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(spectrum)})};
}

} // namespace spng
