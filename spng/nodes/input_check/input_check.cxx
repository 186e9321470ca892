// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/input_check/input_check.h"

#include "spng/core/log/log.h"
#include "spng/core/registry.h"
#include "spng/detector/response_components.h"
#include "spng/detector/wire_noise.h"
#include "spng/nodes/decon/torch_frer_spectrum.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

namespace spng {
namespace {

const Registration<InputCheck> registration{{.type = "SPNGInputCheck",
                                             .kind = "service",
                                             .text = "expected noise, polarity and pulse shape of the "
                                                     "input"}};

constexpr std::int64_t noise_ticks = 2000; // the RMS hardly depends on this length

} // namespace

std::vector<std::int64_t> measured_rows(const bool* good, std::int64_t rows, EveryChannel channels) {
    constexpr std::size_t max_rows = 256;
    std::vector<std::int64_t> present, measured;
    for (std::int64_t row = channels.first; row < rows; row += channels.stride) {
        if (good[row]) {
            present.push_back(row);
        }
    }
    const std::size_t stride = std::max<std::size_t>(1, (present.size() + max_rows - 1) / max_rows);
    for (std::size_t i = 0; i < present.size(); i += stride) {
        measured.push_back(present[i]);
    }
    return measured;
}

InputCheck::Plane plane_of(const ViewGroup& group, std::size_t view) {
    return {group.anodes[view]->config().ident, group.views[view].plane};
}

InputCheck::Expectation InputCheck::make_expectation(Environment& environment,
                                                     const TorchFRERSpectrum& response) const {
    const auto& names = response.config();
    const std::string where = at_key("frer_spectrum");
    const auto& field = environment.service<FieldResponseComponent>(names.field_response, where).response();
    const auto& electronics = environment.service<ElecResponse>(names.elec_response, where);
    const at::Tensor line = response.kernel().sum(0).contiguous(); // response to evenly spread charge
    const auto* sample = line.const_data_ptr<double>();
    double area = 0, magnitude = 0;
    for (std::int64_t tick = 0; tick < line.size(0); ++tick) {
        area += sample[tick];
        magnitude += std::abs(sample[tick]);
    }
    Expectation expected;
    expected.unipolarity = magnitude > 0 ? area / magnitude : 0;
    expected.lobes_in_order =
        std::max_element(sample, sample + line.size(0)) < std::min_element(sample, sample + line.size(0));
    expected.shaping = electronics.electronics().shaping;
    if (expected.unipolarity > 0.9) {
        expected.shapes = std::make_shared<const PulseShapes>(
            field.plane(names.fr_plane_id), field.period, electronics.electronics(),
            ResponseKernelConfig{.tick = names.readout_period,
                                 .electronics_duration = electronics.duration()});
    }
    return expected;
}

void InputCheck::prepare(Environment& environment) {
    const auto& groups = environment.service<ViewGroups>(config().groups, at_key("groups"));
    std::size_t views = 0;
    for (const auto& group : groups.groups()) {
        views += group.views.size();
    }
    if (config().frer_spectrum.size() != views) {
        reject("frer_spectrum", std::to_string(config().frer_spectrum.size()) + " names",
               "one for each of " + std::to_string(views) + " views");
    }
    std::vector<NoiseSpectrum> spectra;
    if (!files_read().empty()) {
        spectra = load_noise_spectra(identify_file("noise").path.string());
    } else {
        log::debug(name().text(), [&] {
            return "no noise spectra" + (config().spectra.empty() ? "" : " (" + config().spectra + ")") +
                   ": noise is not compared";
        });
    }
    std::map<std::string, Expectation> by_response; // anodes may share responses
    std::size_t index = 0;
    for (const auto& group : groups.groups()) {
        for (std::size_t view = 0; view < group.views.size(); ++view) {
            const std::string& response_name = config().frer_spectrum[index++];
            const auto& response =
                environment.service<TorchFRERSpectrum>(response_name, at_key("frer_spectrum"));
            auto found = by_response.find(response_name);
            if (found == by_response.end()) {
                found = by_response.emplace(response_name, make_expectation(environment, response)).first;
            }
            const auto& own = group.views[view];
            auto& expected = m_expectations.emplace(plane_of(group, view), found->second).first->second;
            if (has_plane(spectra, own.plane)) {
                const auto& sampling = response.config();
                expected.noise.merge(
                    expected_noise(own.channels, group.anodes[view]->wires(), own.plane, spectra,
                                   {sampling.adc_per_voltage, sampling.readout_period, noise_ticks}));
            }
        }
    }
}

} // namespace spng
