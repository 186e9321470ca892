// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/image_noise.h"

#include "spng/core/log/log.h"
#include "spng/core/registry.h"
#include "spng/core/unit_text.h"
#include "spng/detector/view_groups.h"
#include "spng/detector/wire_noise.h"
#include "spng/nodes/decon/deconvolution.h"
#include "spng/nodes/decon/torch_frer_spectrum.h"
#include "spng/nodes/filter/time_filter.h"
#include "spng/nodes/filter/torch_1d_spectrum.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <iterator>

namespace spng {
namespace {

const Registration<ImageNoise> registration{
    {.type = "SPNGImageNoise",
     .kind = "service",
     .text = "expected noise of the channels in a filtered image, for views with few channels"}};

constexpr std::int64_t kernel_channels = 64; // samples of the kernel along channels; it is smooth

/// Return the weights of a view for power of the noise in ADC.
at::Tensor weights_of_view(const TorchFRERSpectrum& response, const Torch1DSpectrum& along_wires,
                           const Torch1DSpectrum& along_ticks, std::int64_t rebin) {
    const std::int64_t padded = response.padded_ticks(response.config().default_nticks);
    const at::Tensor kernel = deconvolution_kernel(response.spectrum(kernel_channels, padded),
                                                   along_wires.full(kernel_channels, 1));
    const at::Tensor filter = time_filter(along_ticks.half(padded, response.config().readout_period), padded,
                                          response.roll_ticks(), rebin);
    return noise_weights(kernel, filter, padded / rebin);
}

} // namespace

at::Tensor noise_weights(const at::Tensor& kernel, const at::Tensor& filter, std::int64_t length) {
    const std::int64_t bins = length / 2 + 1;
    const at::Tensor power = kernel.narrow(1, 0, bins).abs().square().mean(0) * filter.abs().square();
    const auto samples = static_cast<double>(length);
    at::Tensor weights = power * (2 / (samples * samples));
    weights[0].zero_();
    if (length % 2 == 0) {
        weights[bins - 1].div_(2);
    }
    return weights;
}

void ImageNoise::prepare(Environment& environment) {
    const ViewGroup& group = group_of(config(), environment, name().text());
    for (const auto* names : {&config().frer_spectrum, &config().base_spectrum_name}) {
        if (names->size() != group.views.size()) {
            reject(names == &config().frer_spectrum ? "frer_spectrum" : "base_spectrum_name",
                   std::to_string(names->size()) + " names",
                   "one for each of " + std::to_string(group.views.size()) + " views");
        }
    }
    const auto spectra = files_read().empty() ? std::vector<NoiseSpectrum>{}
                                              : load_noise_spectra(identify_file("noise").path.string());
    if (!std::ranges::all_of(group.views, [&](const auto& view) { return has_plane(spectra, view.plane); })) {
        log::debug(name().text(), [] { return std::string("no noise spectra: the noise is not known"); });
        return;
    }
    const auto& along_wires =
        environment.service<Torch1DSpectrum>(config().wire_filter, at_key("wire_filter"));
    std::vector<double> rms;
    for (std::size_t index = 0; index < group.views.size(); ++index) {
        const ChannelView& view = group.views[index];
        const auto& response =
            environment.service<TorchFRERSpectrum>(config().frer_spectrum[index], at_key("frer_spectrum"));
        const auto& along_ticks = environment.service<Torch1DSpectrum>(config().base_spectrum_name[index],
                                                                       at_key("base_spectrum_name"));
        const auto& readout = response.config();
        const auto noise =
            expected_filtered_noise(view.channels, group.anodes[index]->wires(), view.plane, spectra,
                                    {readout.adc_per_voltage, readout.readout_period,
                                     response.padded_ticks(readout.default_nticks), config().gain},
                                    weights_of_view(response, along_wires, along_ticks, config().rebin));
        std::transform(view.channels.begin(), view.channels.end(), std::back_inserter(rms),
                       [&](int channel) { return noise.at(channel); });
        log::debug(name().text(), [&] {
            return "view " + group.view_names[index] + ": expected noise " +
                   format_fixed(rms[rms.size() - 1 - (view.channels.size() - 1) / 2], 1) + " electrons";
        });
    }
    m_rms = at::tensor(rms, at::kDouble).view(group.ids.sizes());
}

} // namespace spng
