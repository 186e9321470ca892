// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/decon.h"

#include "spng/core/log/log.h"
#include "spng/core/notes.h"
#include "spng/detector/fft_size.h"
#include "spng/device/context.h"
#include "spng/device/memory/aligned_rows.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/decon/deconvolution.h"
#include "spng/nodes/decon/interpolated_rows.h"
#include "spng/nodes/decon/planned_spectra.h"
#include "spng/nodes/decon/row_band.h"
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

/// Spectra along ticks and along channels, product and inverse transform need three spectra besides the
/// result, and one more if channels are padded. These are the copies on the CPU (measured with
/// AllocationScope). Our kernels need one; composites on devices need up to twice as much for a short time.
std::vector<PlannedSet> plan_memory(const DeconConfig& config, PlannedCall& call) {
    const PlannedTensor& adc = call.inputs.at(0).at(0);
    const std::int64_t row = 2 * call.real * planned_frequencies(adc.ticks);
    const std::int64_t padded = adc.views * planned_channels(adc.channels, config.pad_wire_domain) * row;
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

/// Return the length of the transform along the channels of a band. The filtered inverse of the response has decayed
/// at the distance of the padding. Steps of the length let events with similar channels share a kernel.
std::int64_t padded_band(std::int64_t rows, std::int64_t wires) {
    constexpr std::int64_t step = 64;
    return fast_fft_size((rows + 2 * wires + step - 1) / step * step);
}

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

std::int64_t Decon::padded_channels() const {
    const std::int64_t wires = m_responses.front()->kernel().size(0);
    return config().pad_wire_domain ? fast_fft_size(config().channels + wires - 1) : config().channels;
}

at::Tensor Decon::make_kernel(std::int64_t padded_ticks, std::int64_t padded_channels) const {
    std::vector<at::Tensor> views;
    // Views of several anodes may have equal kernels.
    std::map<std::pair<const TorchFRERSpectrum*, const Torch1DSpectrum*>, at::Tensor> by_services;
    for (std::size_t view = 0; view < m_responses.size(); ++view) {
        at::Tensor& kernel = by_services[{m_responses[view], m_wire_filters[view]}];
        if (!kernel.defined()) {
            kernel = deconvolution_kernel(m_responses[view]->spectrum(padded_channels, padded_ticks),
                                          m_wire_filters[view]->full(padded_channels, 1))
                         .to(context().complex());
        }
        views.push_back(kernel);
    }
    return by_services.size() == 1 ? views.front().unsqueeze(0) : at::stack(views);
}

at::Tensor Decon::kernel_for_band(std::int64_t ticks, std::int64_t padded_channels) {
    const std::int64_t padded = m_responses.front()->padded_ticks(ticks);
    constexpr std::int64_t more_than_channels = std::int64_t{1} << 24;
    return m_band_kernels.get(padded * more_than_channels + padded_channels, context().device(),
                              [&] { return make_kernel(padded, padded_channels); });
}

at::Tensor Decon::kernel_for(std::int64_t ticks) {
    const std::int64_t padded = m_responses.front()->padded_ticks(ticks);
    return m_kernels->get(padded, context().device(), [&] {
        at::Tensor kernel = make_kernel(padded, padded_channels());
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

NamedTensor Decon::step(NamedTensor adc, const EventInfo& event) {
    const double period = m_responses.front()->config().readout_period;
    if (std::abs(adc.axes[2].period - period) > 1e-6 * period) {
        throw Error(ErrorKind::Input, {.what = "the sampling periods of waveforms and response differ",
                                       .seen = std::to_string(adc.axes[2].period) + " ns",
                                       .expected = std::to_string(period) + " ns",
                                       .hint = "resample the frame, or set the detector's tick"});
    }
    const std::int64_t padded = m_responses.front()->padded_ticks(event.ticks);
    const std::int64_t wires = m_responses.front()->kernel().size(0), rows = adc.data.size(1);
    RowBand band{0, rows};
    if (config().few_rows && context().device().is_cpu()) {
        band = row_band(*adc.channels, wires / 2);
    }
    const bool is_whole = band.count == rows;
    const std::int64_t length = is_whole ? padded_channels() : padded_band(band.count, wires);
    const at::Tensor kernel = is_whole ? kernel_for(event.ticks) : kernel_for_band(event.ticks, length);
    const auto channels = is_whole ? adc.channels : channels_of_band(*adc.channels, band);
    const at::Tensor measured = waveform_spectrum(adc.data.narrow(1, band.first, band.count), padded,
                                                  context().real(), channels->good);
    interpolate_rows(measured, channels->good, is_whole && !config().pad_wire_domain);
    NamedTensor spectrum = like(adc, "spectrum", deconvolve(measured, kernel, length));
    spectrum.axes[2] = {"frequency", "1/ns", 0, 1 / (static_cast<double>(padded) * event.tick)};
    spectrum.unit = "electrons";
    spectrum.domain = Domain::frequency;
    spectrum.channels = channels;
    for (const auto* response : m_responses) {
        merge_notes(spectrum.notes, response->notes());
    }
    return spectrum;
}

} // namespace spng
