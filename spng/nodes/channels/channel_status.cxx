// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/channel_status.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/detector/channel_list.h"
#include "spng/detector/view_groups.h"
#include "spng/detector/wire_noise.h"
#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/decon/torch_frer_spectrum.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <limits>

namespace spng {
namespace {

const Registration<ChannelStatus> registration{
    {.type = "SPNGChannelStatus",
     .kind = "noise",
     .inputs = {"waveforms"},
     .outputs = {"waveforms"},
     .text = "finds dead and noisy channels by their noise and marks them as bad",
     .memory = passing_memory_rule()}};

} // namespace

void ChannelStatus::prepare_node(Environment& environment) {
    m_rule = {config().min_rms, config().max_rms, config().max_level, config().block};
    const auto& service = environment.service<ViewGroups>(config().groups, at_key("groups"));
    const ViewGroup& group = service.group(config().group, at_key("group"));
    if (config().frer_spectrum.size() != group.views.size()) {
        reject("frer_spectrum", std::to_string(config().frer_spectrum.size()) + " names",
               "one for each of " + std::to_string(group.views.size()) + " views");
    }
    const auto spectra = files_read().empty() ? std::vector<NoiseSpectrum>{}
                                              : load_noise_spectra(identify_file("noise").path.string());
    const auto* list = config().channel_list.empty()
                           ? nullptr
                           : &environment.service<ChannelList>(config().channel_list, at_key("channel_list"));
    const double none = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> rms, low, high;
    bool is_known = true;
    for (std::size_t index = 0; index < group.views.size(); ++index) {
        const ChannelView& view = group.views[index];
        const auto& response =
            environment.service<TorchFRERSpectrum>(config().frer_spectrum[index], at_key("frer_spectrum"))
                .config();
        is_known = is_known && has_plane(spectra, view.plane);
        std::map<int, double> noise;
        if (is_known) {
            noise = expected_noise(view.channels, group.anodes[index]->wires(), view.plane, spectra,
                                   {response.adc_per_voltage, response.readout_period, config().block});
        }
        for (const int channel : view.channels) {
            rms.push_back(is_known ? noise.at(channel) : none);
            const auto cuts =
                list == nullptr || !list->cuts().contains(channel) ? RmsCuts{} : list->cuts().at(channel);
            low.push_back(cuts.low);
            high.push_back(cuts.high);
        }
    }
    const auto on_device = [&](const std::vector<double>& values) {
        return at::tensor(values, at::kDouble)
            .view(group.ids.sizes())
            .to(at::TensorOptions(context().device()).dtype(context().real()));
    };
    m_expected = {is_known ? on_device(rms) : at::Tensor(), list ? on_device(low) : at::Tensor(),
                  list ? on_device(high) : at::Tensor()};
}

Ports ChannelStatus::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("ChannelStatus::measure");
    NamedTensor tensor = inputs[0]->only();
    auto channels = std::make_shared<ChannelTable>(*tensor.channels);
    tensor.data = tensor.data.to(context().device());
    channels->fault = channel_faults(tensor.data, channels->good, m_expected, m_rule);
    channels->good = channels->good & (channels->fault == static_cast<int>(ChannelFault::none));
    tensor.channels = std::move(channels);
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(tensor)})};
}

} // namespace spng
